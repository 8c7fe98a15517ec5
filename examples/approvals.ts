// Shows each change before it is made, approves the first and rejects the second.
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: 'memory:' })
const workdir = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
const session = await holdfast.startSession({ workdir, model: 'demo/agent' })

for (const prompt of ['write hello.txt: hi', 'run rm -rf .']) {
  for await (const item of session.prompt(prompt)) {
    if (item.type === 'approval') {
      const { id, tool, preview } = item.approval
      console.log(`${tool} asks: ${preview.type}`)
      if (tool === 'write_file') await session.respondToApproval('approve', id)
      else await session.respondToApproval('reject', id, 'Nothing may be deleted here.')
    }
    if (item.type === 'tool_result') console.log(`${item.call.tool}: ${item.call.status}`)
  }
}
console.log(await readdir(workdir))
