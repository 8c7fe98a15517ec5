import type { Answer, CommandInput, SessionHandle, SessionView } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { CliContext } from '../context/cli-context.ts'
import { previewText } from '../render/run-screen.ts'
import { type Ended, ended, exitCodes, refused } from '../terminal/exit.ts'
import { checkNamed, reachSessions } from './connect.ts'
import { openNamed } from './session-name.ts'
import { untilRest } from './wait-until-idle.ts'

type Say = (answer: Answer) => Promise<void>

/** Gives a session one command. Without a server the work it starts is done here, so here we stay until it is done. */
export async function giveCommand(name: string, command: CommandInput, say: Say, place: CliContext): Promise<Ended> {
  const mayExist = checkNamed(place, name)
  if (!mayExist.ok) return refused(mayExist.fault)

  const interruption = place.untilInterrupted()
  const reached = await reachSessions(place)
  if (!reached.ok) return refused(reached.fault)
  const { sessions, isElsewhere, close } = reached.value
  try {
    const handle = await openNamed(sessions, place, name)
    if (!handle.ok) return refused(handle.fault)
    if (!isElsewhere) return await giveHere(handle.value, command, say, { place, interruption })
    const answer = await handle.value.submit(command)
    if (!answer.ok) return refused(answer.fault)
    await say(answer.value)
    return ended()
  } finally {
    await close()
  }
}

type Here = { readonly place: CliContext; readonly interruption: AbortSignal }

async function giveHere(
  handle: SessionHandle,
  command: CommandInput,
  say: Say,
  { place: { err }, interruption }: Here,
): Promise<Ended> {
  const before = await handle.snapshot()
  if (!before.ok) return refused(before.fault)
  const answer = await untilInterrupted(handle, () => handle.submit(command), interruption)
  if (interruption.aborted && !answer.ok) return ended(exitCodes.interrupted)
  if (!answer.ok) return refused(answer.fault)
  await say(answer.value)
  const view = await untilRest(handle, before.value, answer.value.seq, interruption)
  if (interruption.aborted) {
    await handle.submit({ type: 'abort' })
    return ended(exitCodes.interrupted)
  }
  const standing = standingOf(view)
  if (standing !== null) await err.write(`${standing}\n`)
  return ended(view.lastTurn?.reason === 'failed' && startsWork(command) ? exitCodes.failed : exitCodes.ok)
}

/** A summary is written before its command is answered, and may take long: an abort ends that too. */
async function untilInterrupted<Value>(
  handle: SessionHandle,
  work: () => Promise<Value>,
  interruption: AbortSignal,
): Promise<Value> {
  const abort = () => void handle.submit({ type: 'abort' })
  interruption.addEventListener('abort', abort, { once: true })
  try {
    return await work()
  } finally {
    interruption.removeEventListener('abort', abort)
  }
}

const working: readonly CommandInput['type'][] = [
  'sendPrompt',
  'queueSteering',
  'queueFollowUp',
  'continue',
  'respondToApproval',
  'setToolTrust',
]
const startsWork = ({ type }: CommandInput): boolean => working.includes(type)

/** What a person may have to do next, or null. */
function standingOf({ pendingApprovals, lastTurn }: SessionView): string | null {
  const [asked] = pendingApprovals
  if (asked) return `Approval ${asked.id} waits: ${escapeLine(asked.tool)} asks to run: ${previewText(asked.preview)}`
  return lastTurn?.fault ? escapeHidden(lastTurn.fault.message) : null
}
