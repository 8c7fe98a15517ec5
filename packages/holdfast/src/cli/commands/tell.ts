import { entriesOf } from '@holdfast/client'
import { type Answer, contentText, type SessionHandle, type SessionView } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../command-table.ts'
import { readCommand } from '../command-words.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../ended.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'
import { checkNamed, reachSessions } from '../reach-sessions.ts'
import { previewText } from '../run-screen.ts'
import { openNamed } from '../session-name.ts'
import { untilRest } from '../until-rest.ts'

type Said = Extract<ReturnType<typeof readCommand>, { readonly type: 'command' }>['command']

/** Gives a session one command. Without a server the work it starts is done here, so here we stay until it is done. */
export async function tell({ words, flags }: ArgsOf<'tell'>, place: Place): Promise<Ended> {
  const [name = '', type = '', ...fields] = words
  const read = readCommand(type, fields)
  if (read.type === 'misused') return misused(read.message)
  const mayExist = checkNamed(place, name)
  if (!mayExist.ok) return refused(mayExist.fault)

  const interruption = place.untilInterrupted()
  const reached = await reachSessions(place)
  if (!reached.ok) return refused(reached.fault)
  const { sessions, isElsewhere, close } = reached.value
  try {
    const handle = await openNamed(sessions, place, name)
    if (!handle.ok) return refused(handle.fault)
    const say = (answer: Answer) => tellAnswer(answer, read.command.type, flags.json, place)
    if (!isElsewhere) return await tellHere(handle.value, read.command, say, { place, interruption })
    const answer = await handle.value.submit(read.command)
    if (!answer.ok) return refused(answer.fault)
    await say(answer.value)
    return ended()
  } finally {
    await close()
  }
}

type Here = { readonly place: Place; readonly interruption: AbortSignal }

async function tellHere(
  handle: SessionHandle,
  command: Said,
  say: (answer: Answer) => Promise<void>,
  { place: { err }, interruption }: Here,
): Promise<Ended> {
  const before = await handle.snapshot()
  if (!before.ok) return refused(before.fault)
  const answer = await handle.submit(command)
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

const working: readonly Said['type'][] = [
  'sendPrompt',
  'queueSteering',
  'queueFollowUp',
  'continue',
  'respondToApproval',
  'setToolTrust',
]
const startsWork = ({ type }: Said): boolean => working.includes(type)

async function tellAnswer(answer: Answer, type: string, isJson: boolean, { out }: Place): Promise<void> {
  if (isJson) return out.write(`${toJsonText(answer)}\n`)
  const queued = answer.result['queued']
  const how = typeof queued === 'string' ? `, queued as ${escapeLine(queued)}` : ''
  await out.write(`${type} accepted at ${answer.seq}${how}.\n`)
  for (const { id, queue, content } of entriesOf(answer.result))
    await out.write(`took back ${id}, ${queue}: ${escapeHidden(contentText(content))}\n`)
}

/** What a person may have to do next, or null. */
function standingOf({ pendingApprovals, lastTurn }: SessionView): string | null {
  const [asked] = pendingApprovals
  if (asked) return `Approval ${asked.id} waits: ${escapeLine(asked.tool)} asks to run: ${previewText(asked.preview)}`
  return lastTurn?.fault ? escapeHidden(lastTurn.fault.message) : null
}
