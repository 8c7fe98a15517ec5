import { resolve } from 'node:path'
import { fault, limits, ok, type Result, refuse, type SessionHandle } from '@holdfast/protocol'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { runTurn } from '../../run/run-turn.ts'
import { saveRefusedPrompt } from '../../run/save-refused-prompt.ts'
import { checkNamed, type ReachedSessions, reachSessions } from '../../sessions/connect.ts'
import { openNamed } from '../../sessions/session-name.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, misused, refused } from '../../terminal/exit.ts'

type Flags = ArgsOf<'run'>['flags']

/** One prompt, one turn: its answer on standard output as it is spoken. */
export async function run({ words, flags }: ArgsOf<'run'>, place: CliContext): Promise<Ended> {
  const misuse = misuseOf(flags)
  if (misuse !== null) return misused(misuse)
  const [given] = words
  if ((given === undefined || given === '-') && place.input().isTTY)
    return misused('run needs a prompt: write it after run, or pipe it in.')
  if (flags.session !== undefined) {
    const mayExist = checkNamed(place, flags.session)
    if (!mayExist.ok) return refused(mayExist.fault)
  }
  const isPiped = given === undefined || given === '-'
  const prompt = isPiped ? await readInput(place) : ok(given)
  if (!prompt.ok) return refused(prompt.fault)
  if (prompt.value.trim() === '') return refused(fault('empty_prompt', 'The prompt is empty. Write something.'))

  const ended = await runPrompt(prompt.value, flags, place)
  return isPiped ? saveRefusedPrompt(ended, prompt.value, place) : ended
}

async function runPrompt(prompt: string, flags: Flags, place: CliContext): Promise<Ended> {
  const interruption = place.untilInterrupted()
  const isDefaultTaken = flags.session === undefined && flags.model === undefined
  const reached = await reachSessions(place, { isDefaultTaken })
  if (!reached.ok) return refused(reached.fault)
  try {
    const handle = await openOrStart(reached.value, flags, place)
    if (!handle.ok) return refused(handle.fault)
    const approvals = flags.yes ? 'approve' : flags.no ? 'reject' : 'nobody'
    const isNew = flags.session === undefined
    return await runTurn(handle.value, prompt, { approvals, isNew, isJson: flags.json, place, interruption })
  } finally {
    await reached.value.close()
  }
}

function misuseOf({ yes, no, session, model, workdir }: Flags): string | null {
  if (yes && no) return '--yes and --no exclude each other.'
  if (session === undefined) return null
  if (model !== undefined) return '--model is for a new session; this one has its model.'
  if (workdir !== undefined) return '--workdir is for a new session; this one has its workdir.'
  return null
}

async function readInput({ input }: CliContext): Promise<Result<string>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input() as AsyncIterable<Uint8Array>) {
    bytes += chunk.length // standard input without an encoding gives bytes
    if (bytes > limits.promptBytesMax)
      return refuse(fault('too_large', `The prompt is larger than ${limits.promptBytesMax} bytes.`))
    chunks.push(chunk)
  }
  return ok(Buffer.concat(chunks).toString('utf8'))
}

async function openOrStart(
  { sessions }: ReachedSessions,
  flags: Flags,
  place: CliContext,
): Promise<Result<SessionHandle>> {
  if (flags.session !== undefined) {
    const handle = await openNamed(sessions, place, flags.session)
    if (!handle.ok || !flags.plan) return handle
    const entered = await handle.value.submit({ type: 'enterPlan' })
    return entered.ok ? handle : entered
  }
  const here = currentDirectory(place)
  if (!here.ok) return here
  return sessions.start({
    workdir: resolve(here.value, flags.workdir ?? '.'), // a server stands somewhere else
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.plan && { mode: 'plan' as const }),
  })
}
