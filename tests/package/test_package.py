"""What is in the sdist and the wheel, and what an installation without Node can do."""

import email
import re
import tarfile
import urllib.error
import urllib.request
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from readme_renderer import markdown

from tests.package.conftest import CHECKOUT, STATIC, Installation, Packages, build, checkout, installed
from tests.support.web import session_cookie

pytestmark = pytest.mark.load  # builds the packages and installs them

ALLOWED = re.compile(
    r"salvo/(\w+/)*\w+\.py"
    r"|salvo/py\.typed"
    r"|salvo/engine/(chat/models\.toml|runtime/prices\.json)"
    r"|salvo/(\w+/)*\w+\.css"
    r"|salvo/(\w+/)*templates/\w+\.html"
    r"|salvo/playbooks/evaluate/(look_alikes\.(json|LICENSE\.txt)|injection/languages\.toml)"
    r"|salvo/playbooks/evaluate/judges/(rules/vocabulary\.toml|rules_calibration\.json)"
    r"|salvo/playbooks/playbook/library/\w+\.json"
    r"|salvo/scenarios/spec/templates/[\w.]+\.(yaml|txt)"
    r"|salvo/web/examples/examples\.json"
    r"|salvo/web/static/(index\.html|theme\.js|icon\.svg)"
    r"|salvo/web/static/assets/[\w-]+(\.worker-[\w-]+)?\.(js|css)"
    r"|salvo_ai-[\w.]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/LICENSE)"
)


def files_of(packages: Packages) -> dict[str, bytes]:
    """Of both, by name."""
    with zipfile.ZipFile(packages.wheel) as wheel, tarfile.open(packages.sdist) as sdist:
        found = {name: wheel.read(name) for name in wheel.namelist()}
        for member in sdist.getmembers():
            opened = sdist.extractfile(member)
            if opened is not None:
                found[member.name] = opened.read()
    return found


def test_the_wheel_holds_the_package_and_the_page_and_nothing_else(packages: Packages) -> None:
    with zipfile.ZipFile(packages.wheel) as wheel:
        names = wheel.namelist()
    assert [name for name in names if not ALLOWED.fullmatch(name)] == []
    ours = {str(path.relative_to(CHECKOUT / "src")) for path in (CHECKOUT / "src/salvo").rglob("*.py")}
    assert ours <= set(names)
    assert "salvo/web/static/index.html" in names
    assert any(name.startswith("salvo/web/static/assets/") for name in names)


def test_the_sdist_holds_what_a_wheel_is_built_from_without_node(packages: Packages) -> None:
    with tarfile.open(packages.sdist) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]
    known = {"hatch_build.py", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore", "PKG-INFO"}
    beside = [name for name in names if name not in known]
    assert [name for name in beside if not ALLOWED.fullmatch(name.removeprefix("src/"))] == []
    assert str(STATIC / "index.html") in names


def test_no_file_knows_where_it_was_built(packages: Packages) -> None:
    places = [str(CHECKOUT).encode(), str(packages.wheel.parent.parent).encode()]
    assert [name for name, content in files_of(packages).items() if any(place in content for place in places)] == []


def test_the_metadata_is_sound_and_the_description_renders_without_a_broken_link(packages: Packages) -> None:
    [content] = [content for name, content in files_of(packages).items() if name.endswith("/METADATA")]
    metadata = Metadata.from_email(content, validate=True)
    assert metadata.description_content_type == "text/markdown"
    assert str(metadata.requires_python) == ">=3.11"
    description = email.message_from_bytes(content).get_payload()
    assert isinstance(description, str)
    rendered = markdown.render(description)
    assert rendered is not None
    links = _Links()
    links.feed(rendered)
    assert links.headings > 3
    assert [target for target in links.targets if not target.startswith(("https://", "#"))] == []


class _Links(HTMLParser):
    """Where a page's links and pictures lead."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.headings = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.headings += tag in ("h1", "h2", "h3")
        self.targets += [value or "" for name, value in attrs if name in ("href", "src", "srcset")]


def test_an_installation_runs_both_commands_from_its_own_files(installation: Installation) -> None:
    where = installation.run("python", "-c", "import salvo; print(salvo.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(installation.folder)
    assert installation.run("salvo", "init", "demo").returncode == 0
    ran = installation.run("salvo", "run", "demo/scenarios")
    assert (ran.returncode, ran.stderr.count("Traceback")) == (1, 0)
    assert "8 of 10 completed runs passed" in ran.stdout
    text = CHECKOUT / "examples" / "outputs" / "dpa_review.md"
    evaluated = installation.run("byop", "run", str(text), "-o", "report.html", "--no-store")
    assert (evaluated.returncode, evaluated.stdout.split()[0]) == (0, "STABLE")
    assert (installation.work / "report.html").is_file()


def test_an_installation_serves_the_page(installation: Installation, packages: Packages) -> None:
    with installation.serving() as (address, _):
        base, name_and_value = _logged_in(address)
        page = _fetched(f"{base}/")
        about = _fetched(f"{base}/api/about", cookie=name_and_value)
    with zipfile.ZipFile(packages.wheel) as wheel:
        assert page == (200, wheel.read("salvo/web/static/index.html"))
    assert about[0] == 200


def test_a_checkout_without_node_gives_both_commands_and_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    built = build(checkout(tmp_path / "checkout", page=False), tmp_path / "dist", "--wheel")
    assert built.returncode == 0
    assert "Node is not here: the page is left out. Install Node 20.19 or newer for it" in built.stdout + built.stderr
    [wheel] = (tmp_path / "dist").glob("*.whl")
    installation = installed(wheel, tmp_path)
    assert installation.run("salvo", "--version").returncode == 0
    with installation.serving() as (address, server):
        status, content = _fetched(f"{_logged_in(address)[0]}/")
        server.terminate()
        said = server.communicate(timeout=20)[1]
    sentence = "The page is not part of this installation, because Node was missing when it was built."
    assert sentence in said
    assert (status, sentence in content.decode()) == (503, True)


def test_node_builds_the_page_into_the_package_and_a_failing_one_keeps_nothing_from_installing(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    source = checkout(tmp_path / "checkout", page=False)
    npm = tmp_path / "npm"
    npm.write_text(
        '#!/bin/sh\n[ "$1" = run ] && /bin/mkdir -p ../src/salvo/web/static && echo new > ../src/salvo/web/static/index.html\nexit 0\n'
    )
    npm.chmod(0o755)
    assert build(source, tmp_path / "dist", "--wheel", path=(tmp_path,)).returncode == 0
    [wheel] = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        assert opened.read("salvo/web/static/index.html") == b"new\n"
    npm.write_text("#!/bin/sh\nexit 1\n")
    failed = build(source, tmp_path / "dist", "--wheel", path=(tmp_path,))
    assert failed.returncode == 0
    assert "npm could not build it: the page is the one built earlier." in failed.stdout + failed.stderr


def _logged_in(address: str) -> tuple[str, str]:
    """Log in at the address that was printed. Return the server's address and the cookie."""
    return address.partition("/login?")[0], "=".join(session_cookie(address))


def _fetched(address: str, cookie: str = "") -> tuple[int, bytes]:
    request = urllib.request.Request(address, headers={"cookie": cookie})  # noqa: S310 - a loopback address of ours
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:  # noqa: S310 - likewise
            return reply.status, reply.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def test_no_hint_and_no_page_tells_to_install_the_foreign_package_of_this_name() -> None:
    """On the public index, the name of our distribution belongs to another project."""
    texts = [*(CHECKOUT / "src").rglob("*.py"), *(CHECKOUT / "docs").rglob("*.md"), CHECKOUT / "README.md"]
    told = re.compile(r"(pip|pipx|uv)[^\n.]{0,40}\b(install|add)\b[^\n.]{0,40}salvo-ai")
    assert [str(path) for path in texts if told.search(path.read_text(encoding="utf-8"))] == []
