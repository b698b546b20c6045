"""What a client has to declare before it is served."""

from gateway.listen.extensions import NO_TASKS, knows_tasks
from gateway.types.extensions import TASKS
from tests.helpers.cases import AbsentCaller


def test_a_client_without_the_extension_learns_which_one_it_lacks() -> None:
    assert not knows_tasks(AbsentCaller())
    assert NO_TASKS.code == -32021
    assert NO_TASKS.data == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
