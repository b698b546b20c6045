"""What may be shown of values that came from the environment."""

from gateway import yamltext
from gateway.config import naming
from gateway.config.expand import expand
from gateway.config.settings import Settings
from gateway.errors import FileError

TEXT = "servers: {a: {command: '${CMD} --x', args: ['${CMD}']}, b: {command: plain}}"


def test_only_faults_at_the_place_of_a_reference_are_reworded() -> None:
    document = yamltext.load(TEXT, file="c")
    expansion = expand(document.value, {"CMD": "plain"})
    line, column = document.place(("servers", "a", "args", 0))
    faults = [
        FileError("`plain` is wrong", file="c", line=line, column=column),
        FileError("`plain` is wrong", file="c", line=line, column=1),
    ]
    found = naming.as_written(faults, document, expansion)
    assert [fault.message for fault in found] == ["`${CMD}` is wrong", "`plain` is wrong"]


def test_an_entry_is_told_of_its_own_keys_only() -> None:
    expansion = expand(yamltext.load(TEXT, file="c").value, {"CMD": "sh"})
    settings = naming.mark(
        Settings.model_validate(expansion.value), expansion.written, {"b": ("s3cret",)}
    )
    assert settings.servers["a"].written == {"command": "${CMD} --x"}
    assert settings.servers["b"].written == {}
    assert [settings.servers[name].credentials for name in "ab"] == [(), ("s3cret",)]
