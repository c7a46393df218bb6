"""Scripts that need a credential: to be fetched, or in their text. No log has it."""

from __future__ import annotations

import json
from pathlib import Path

from anew.stores.codec import encode_events
from tests.runtime.test_control import in_a_world
from tests.tools.http_world import a_server
from tests.tools.test_scripts import answering

TOKEN = "a-rather-secret-token"
FLOW = """
metadata: {{name: secretive}}
keychain: [{{name: gh, provider: file, path: gh.json}}]
workflow:
  - step: fetched
    tool:
      kind: python
      script: {{uri: work.py, source: {{type: http, endpoint: "{url}", auth: gh}}}}
    next: [{{step: compared}}]
  - step: compared
    tool: {{kind: sqlite, script: compare.sql, params: {{token: "{{{{ keychain.gh.token }}}}"}}}}
"""


def test_a_script_gets_its_credential_and_the_log_does_not(tmp_path: Path) -> None:
    (tmp_path / "gh.json").write_text(json.dumps({"type": "bearer", "data": {"token": TOKEN}}))
    (tmp_path / "compare.sql").write_text(
        "SELECT '{{ keychain.gh.token }}' = :token AS same, '{{ keychain.gh.token }}' AS told"
    )

    async def work(world) -> None:
        async with a_server(answering(b"result = 7")) as server:
            run = await world.start(FLOW.format(url=server.url))
            state = await world.ended(run)
            assert f"Bearer {TOKEN}".encode() in server.heard[0]
        assert state.results["fetched"].result == 7
        (row,) = state.results["compared"].result["rows"]
        assert row["same"] == 1
        assert "$secret" in row["told"]
        log, _ = encode_events(await world.log(run), after=0)
        assert all(TOKEN not in event.data for event in log)

    in_a_world(work, tmp_path)
