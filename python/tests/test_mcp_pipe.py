"""The server as a client of the package mcp meets it: over a pipe, word for word."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, ROOT, kernel

import borescope

pytest.importorskip("mcp", reason="the package mcp is not installed")

# Questions and answers; BORESCOPE_UPDATE_GOLDEN=1 writes the answers again.
TRANSCRIPT = Path(__file__).with_name("mcp_transcript.json")
COMMAND = [sys.executable, "-m", "borescope", "mcp", "--root"]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"}}}


def environment() -> dict[str, str]:
    """For a server that imports the package that this test imports."""
    return {"PYTHONPATH": os.pathsep.join([str(Path(borescope.__file__).parents[1]), *sys.path])}


def conversation(root: Path, calls: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The tools that a server names, and its answers to these calls."""
    import anyio
    from mcp import Client, StdioServerParameters

    async def talk() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(root)],
                                       env=environment())
        async with Client(server) as client:
            tools = [each.model_dump(mode="json", exclude_none=True)
                     for each in (await client.list_tools()).tools]
            answers = []
            for each in calls:
                result = await client.call_tool(each["tool"], each["arguments"])
                (content,) = result.content
                assert content.type == "text"
                assert result.structured_content == json.loads(content.text)
                answers.append({**each, "is_error": result.is_error, "answer": json.loads(content.text)})
            return tools, answers

    return anyio.run(talk)


def test_transcript() -> None:
    golden = json.loads(TRANSCRIPT.read_text())
    calls = [{"tool": each["tool"], "arguments": each["arguments"]} for each in golden]
    tools, answers = conversation(DEMO.parent, calls)
    if os.environ.get("BORESCOPE_UPDATE_GOLDEN"):
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in answers)
        TRANSCRIPT.write_text(f"[\n{lines}\n]\n")
        golden = answers
    assert [each["name"] for each in tools] == ["open_run", "ask", "sql", "evidence", "compare", "check", "postmortem"]
    assert all(each["annotations"]["read_only_hint"] for each in tools)
    assert len(json.dumps(tools)) <= 8_192
    for got, expected in zip(answers, golden, strict=True):
        assert got == expected


def test_resources_and_prompts(tmp_path: Path) -> None:
    """What is listed can be read, and names tools and verbs that there are; what is not listed is refused."""
    import anyio
    from mcp import Client, StdioServerParameters

    async def talk() -> None:
        server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], str(tmp_path)], env=environment())
        async with Client(server) as client:
            uris = [str(each.uri) for each in (await client.list_resources()).resources]
            assert uris == ["borescope://guide", "borescope://pitfalls", "borescope://verbs", "borescope://sql"]
            (template,) = (await client.list_resource_templates()).resource_templates
            texts = {uri: (await client.read_resource(uri)).contents[0].text
                     for uri in [*uris, template.uri_template.replace("{verb}", "idle")]}
            assert "kernel_wait" in texts["borescope://verbs/idle"] and "--" not in texts["borescope://verbs/idle"]
            assert texts["borescope://pitfalls"].count("\n| ") == 29 and "`kernels`: " in texts["borescope://verbs"]
            assert "dur_ns" in texts["borescope://sql"] and texts["borescope://guide"].startswith("---\nname: gpu-profile")
            prompts = (await client.list_prompts()).prompts
            assert [each.name for each in prompts] == ["why_slow", "verify_change", "why_died", "trust_recording"]
            for each in prompts:
                given = {argument.name: f"<{argument.name}>" for argument in each.arguments}
                (message,) = (await client.get_prompt(each.name, given)).messages
                assert all(value in message.content.text for value in given.values()) and "{" not in message.content.text
            for wrong in (client.read_resource("borescope://verbs/kernel"), client.read_resource("file:///etc/passwd"),
                          client.get_prompt("why_slow", {}), client.get_prompt("nope", {})):
                with pytest.raises(Exception, match="there is no|needs `path`"):
                    await wrong

    anyio.run(talk)


def test_hostile_names_over_the_pipe(tmp_path: Path) -> None:
    name = 'x\r\n{"jsonrpc":"2.0","id":1,"result":{}}\n\x1b[2J\u2028'
    (tmp_path / "rank-0.json").write_text(json.dumps({"traceEvents": kernel(name, 0, 1)}))
    ask = {"tool": "ask", "arguments": {"path": "rank-0.json", "verb": "kernels"}}
    _, (first, second) = conversation(tmp_path, [ask, ask])
    assert first == second
    ((shown, *_),) = first["answer"]["tables"][0]["data"]["rows"]
    assert shown == 'x\\x0d\\x0a{"jsonrpc":"2.0","id":1,"result":{}}\\x0a\\x1b[2J\\u2028'


def started(root: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **environment()})


def say(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def test_half_of_a_character_is_answered(tmp_path: Path) -> None:
    """JSON can write what no text can hold, and the package mcp passes over such a line."""
    (tmp_path / "rank-0.json").write_text(json.dumps({"traceEvents": kernel("k", 0, 1)}))
    with started(tmp_path) as server:
        assert server.stdin is not None and server.stdout is not None
        say(server, HELLO)
        assert "result" in json.loads(server.stdout.readline())
        say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for path in ("\\ud800", "\\ud83d\\ude00", "rank-0.json"):
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": {"name": "ask", "arguments": {"path": "PATH", "verb": "info"}}}
            server.stdin.write(json.dumps(call).replace("PATH", path).encode() + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert answer["result"]["isError"] == (path != "rank-0.json")
        server.kill()


def test_an_id_with_half_of_a_character_comes_back(tmp_path: Path) -> None:
    """A client looks for the id that it gave."""
    (tmp_path / "rank-0.json").write_text(json.dumps({"traceEvents": kernel("k", 0, 1)}))
    with started(tmp_path) as server:
        assert server.stdout is not None
        say(server, HELLO)
        assert "result" in json.loads(server.stdout.readline())
        say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for name in ("\udc00", "a\ud800\u6f22\U0001f600\udfff", "", "?"):
            say(server, {"jsonrpc": "2.0", "id": name, "method": "tools/call",
                         "params": {"name": "ask", "arguments": {"path": "rank-0.json", "verb": "info"}}})
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == name and not answer["result"]["isError"]
            say(server, {"jsonrpc": "2.0", "id": name, "method": "no/method"})
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == name and "error" in answer
        server.kill()


def test_a_cancelled_statement_stops(tmp_path: Path) -> None:
    """The next question need not wait until the limit of time ends a statement that nobody waits for."""
    (tmp_path / "rank-0.json").write_text(json.dumps({"traceEvents": [each for i in range(300)
                                                                      for each in kernel(f"k{i}", i, 1)]}))
    endless = "select count(*) from events a, events b, events c, events d where a.dur_ns + b.dur_ns = -c.dur_ns"
    with started(tmp_path) as server:
        answers = server.stdout
        assert answers is not None
        say(server, HELLO)
        assert "result" in json.loads(answers.readline())
        say(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})

        def ask(number: int, tool: str, **arguments: str) -> None:
            say(server, {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                         "params": {"name": tool, "arguments": {"path": "rank-0.json", **arguments}}})

        def cancel(number: int) -> None:
            say(server, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

        def seconds_of(number: int, *cancelled: int) -> float:
            begin = time.monotonic()
            for each in cancelled:
                cancel(each)
            ask(number, "ask", verb="info")
            while json.loads(answers.readline()).get("id") != number:
                pass
            return time.monotonic() - begin

        alone, behind = [], []
        for number in range(1, 22, 3):
            alone.append(seconds_of(number))
            ask(number + 1, "sql", statement=endless)
            time.sleep(0.5)
            behind.append(seconds_of(number + 2, number + 1))
        # What a stop takes on any machine; the statement alone has ten seconds.
        assert statistics.median(behind) - statistics.median(alone) < 0.2, (alone, behind)
        assert max(behind) < max(alone) + 5, (alone, behind)
        server.kill()


def test_the_end_of_the_input_ends_it() -> None:
    server = started(DEMO)
    say(server, HELLO)
    out, err = server.communicate(timeout=120)
    assert server.returncode == 0 and b"Traceback" not in err, err
    assert json.loads(out)["result"]["serverInfo"]["name"] == "borescope"


def test_a_closed_pipe_ends_it_quietly() -> None:
    server = started(DEMO)
    assert server.stdout is not None and server.stderr is not None and server.stdin is not None
    say(server, HELLO)
    assert server.stdout.readline()
    server.stdout.close()
    try:
        for number in range(1, 50):
            say(server, {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}})
        server.stdin.close()
    except BrokenPipeError:
        pass
    assert server.wait(timeout=120) == 0
    assert b"Traceback" not in server.stderr.read()
    server.stderr.close()
