"""The modules of the package import each other in one direction."""

from graphlib import TopologicalSorter

import grimp


def test_no_module_imports_itself_through_others() -> None:
    """Also not by an import inside a function, which would only hide the cycle. Imports for types alone do not count."""
    graph = grimp.build_graph("salvo", exclude_type_checking_imports=True, cache_dir=None)
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()
