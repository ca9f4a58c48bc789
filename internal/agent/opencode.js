// Written by Fermata: it asks `fermata hook` before every tool.
import { spawn } from "node:child_process"

const hook = "HOOK"
const announced = "ANNOUNCED"

// call starts the hook. Anything but its exit code 0 is a refusal.
function call(event) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", hook], { stdio: ["pipe", "pipe", "pipe"] })
    let out = "", err = ""
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.stdin.on("error", () => {})
    child.on("error", (e) => reject(new Error("fermata: the gate failed, so this call may not run: " + e.message)))
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(err.trim() || "fermata: the gate failed, so this call may not run"))
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch (e) {
        reject(new Error("fermata: the gate said something strange, so this call may not run"))
      }
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Fermata = async ({ directory }) => {
  if (announced) await call({ hook_event_name: "SessionStart", cwd: directory })
  return {
    "tool.execute.before": async (input, output) => {
      const verdict = await call({
        hook_event_name: "tool.execute.before", session_id: input.sessionID, cwd: directory,
        tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args,
      })
      if (verdict.decision && verdict.decision !== "allow") throw new Error(verdict.reason)
      if (verdict.input) {
        for (const name of Object.keys(output.args)) delete output.args[name]
        Object.assign(output.args, verdict.input)
      }
    },
  }
}
