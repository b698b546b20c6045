"""YAML that people write: one meaning a text, and a line and column for every fault."""

from gateway.yamltext.document import Path, Place, YamlDocument
from gateway.yamltext.loading import load
from gateway.yamltext.models import validate
from gateway.yamltext.scalars import resolve

__all__ = ["Path", "Place", "YamlDocument", "load", "resolve", "validate"]
