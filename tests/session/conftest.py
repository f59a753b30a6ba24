"""The fixtures of the tests of `acp_workspace`, which the tests of `acp_session` use too."""

from workspace.conftest import make as make
from workspace.conftest import mechanism as mechanism
