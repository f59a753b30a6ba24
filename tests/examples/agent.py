"""An agent that streams, asks permission, edits a file in its roots and runs a command."""

from acp_session import Agent, Diff, Turn, run_agent


class Notes(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message("I write a note.")
        note = Diff("note.txt", None, "tide\n")
        async with turn.tool_call("Write note.txt", kind="edit", content=[note], locations=["note.txt"]) as call:
            if not await call.request_permission():
                await turn.send_message("I may not write it.")
                return "end_turn"
            await turn.write_text_file("note.txt", "tide\n")
        counted = await turn.run_command("wc", "-c", "note.txt")
        await turn.send_message(f"Byte count: {counted.output.strip()}")
        return "end_turn"


if __name__ == "__main__":
    run_agent(Notes())
