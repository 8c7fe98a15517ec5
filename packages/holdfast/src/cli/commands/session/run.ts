import { fault, limits, orThrow, type Result, type SessionHandle, type Sessions } from '@holdfast/protocol'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { checkNamed, reachSessions } from '../../sessions/connect.ts'
import { runTurn } from '../../sessions/run-turn.ts'
import { saveRefusedPrompt } from '../../sessions/save-refused-prompt.ts'
import { openNamed } from '../../sessions/session-name.ts'
import { resolvePath } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type ExitCode, failWith, rejectUsage } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

type Flags = ArgsOf<typeof sessionSpecs.run>['flags']

/** Sends one prompt and prints the answer while it arrives. */
export const run: RunCommand<typeof sessionSpecs.run> = async ({ positionals: [given = '-'], flags }, context) => {
  const { session, model, workdir } = flags
  if (session !== undefined && model !== undefined) return rejectUsage('--model works with a new session only.')
  if (session !== undefined && workdir !== undefined) return rejectUsage('--workdir works with a new session only.')
  const isPiped = given === '-'
  if (isPiped && context.input().isTTY) return rejectUsage('run needs a prompt: write it after run, or pipe it in.')
  if (session !== undefined) checkNamed(context, session)
  const prompt = isPiped ? await readInput(context) : given
  if (prompt.trim() === '') return failWith(fault('empty_prompt', 'The prompt is empty. Write something.'))
  const result = await runPrompt(prompt, flags, context)
  if (isPiped && !result.ok) return failWith(await saveRefusedPrompt(result.fault, prompt, context))
  return orThrow(result)
}

async function runPrompt(prompt: string, flags: Flags, context: CliContext): Promise<Result<ExitCode>> {
  const interruption = context.untilInterrupted()
  const isNew = flags.session === undefined
  const reached = await reachSessions(context, { usesDefaultModel: isNew && flags.model === undefined })
  if (!reached.ok) return reached
  try {
    const handle = await openOrStart(reached.value.sessions, flags, context)
    if (!handle.ok) return handle
    const approvals = flags.yes ? 'approve' : flags.no ? 'reject' : 'unattended'
    return await runTurn(handle.value, prompt, { approvals, isNew, isJson: flags.json, context, interruption })
  } finally {
    await reached.value.close()
  }
}

async function readInput({ input }: CliContext): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input() as AsyncIterable<Uint8Array>) {
    bytes += chunk.length // standard input without an encoding gives bytes
    if (bytes > limits.promptBytesMax)
      return failWith(fault('too_large', `The prompt is larger than ${limits.promptBytesMax} bytes. Shorten it.`))
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function openOrStart(
  sessions: Sessions,
  { session, model, workdir = '.', plan }: Flags,
  context: CliContext,
): Promise<Result<SessionHandle>> {
  if (session !== undefined) {
    const handle = await openNamed(sessions, context, session)
    if (!handle.ok || !plan) return handle
    const entered = await handle.value.submit({ type: 'enterPlan' })
    return entered.ok ? handle : entered
  }
  const path = resolvePath(context, workdir) // a server has another current directory
  if (!path.ok) return path
  return sessions.start({
    workdir: path.value,
    ...(model !== undefined && { model }),
    ...(plan && { mode: 'plan' as const }),
  })
}
