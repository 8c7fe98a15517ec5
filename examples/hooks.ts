// Runs functions at events of every session: one refuses calls, one adds to prompts, one sees results.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({
  store: 'memory:',
  hooks: {
    UserPromptSubmit: [({ prompt }) => ({ context: `The prompt has ${prompt.length} characters.` })],
    PreToolUse: [
      {
        matcher: 'shell',
        run: ({ tool_input: { command } }) =>
          String(command).startsWith('rm ') ? { block: 'Nothing is removed here.' } : { permission: 'allow' },
      },
    ],
    PostToolUse: [
      ({ tool_name, tool_response }) => {
        console.log(`${tool_name} ${tool_response.is_error ? 'failed' : 'worked'}`)
      },
    ],
  },
})
const workdir = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
const session = await holdfast.startSession({ workdir, model: 'demo/agent' })
for (const request of ['run rm notes.txt', 'run echo hello']) {
  await session.prompt(request).result()
  const call = (await session.messages()).findLast(({ kind }) => kind === 'tool_call')
  if (call?.kind === 'tool_call') console.log(`${call.call.status}: ${call.call.result?.text.split('\n')[0]}`)
}
