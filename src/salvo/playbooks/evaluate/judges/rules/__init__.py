"""A judge that needs no key and no network: rules over the sentences of an English text."""
