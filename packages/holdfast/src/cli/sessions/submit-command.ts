import {
  type Answer,
  addToView,
  type CommandInput,
  type FrameOf,
  orThrow,
  type Seq,
  type SessionHandle,
  type SessionId,
  type Sessions,
  type SessionView,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { checkNamed, withSessions } from '../connect/connect.ts'
import { openNamed } from '../connect/session-name.ts'
import { askedText } from '../render/preview-text.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, exitCodes } from '../terminal/exit.ts'
import type { Output } from '../terminal/output.ts'

type PrintAnswer = (answer: Answer, sessions: Sessions, id: SessionId) => Promise<void>

/** Sends a command to a session and prints its answer. Without a server, waits until the work it starts is done. */
export async function submitCommand(
  name: string,
  command: CommandInput,
  print: PrintAnswer,
  context: CliContext,
): Promise<CommandResult> {
  checkNamed(context, name)
  const interruption = context.untilInterrupted()
  return withSessions(context, async ({ sessions, isRemote, isHere }) => {
    const handle = orThrow(await openNamed(sessions, context, name))
    if (!isRemote)
      return submitHere(handle, command, (answer) => print(answer, sessions, handle.id), {
        context,
        interruption,
        isHere: () => isHere(handle.id),
      })
    await print(orThrow(await handle.submit(command)), sessions, handle.id)
    return exitCodes.ok
  })
}

type Printed = {
  /** The field of the answer to print on standard output. */
  readonly field?: 'branch' | 'session'
  /** What to print if the answer has no such field, because nothing had to be done. */
  readonly unchanged?: string
  /** Returns the sentence for standard error. */
  readonly describe: (value: string) => string
}

/** Sends a command; prints a field of its answer, and a sentence about it. */
export function submitAndPrint(
  name: string,
  command: CommandInput,
  { field, unchanged = '', describe }: Printed,
  isJson: boolean,
  context: CliContext,
): Promise<CommandResult> {
  const { out, err } = context
  const print = async (answer: Answer) => {
    if (isJson) return out.writeJson(answer)
    const value = field ? escapeLine(String(answer.result[field] ?? unchanged)) : ''
    if (field) await out.write(`${value}\n`)
    await err.tell(describe(value))
  }
  return submitCommand(name, command, print, context)
}

type SubmitHere = {
  readonly context: CliContext
  readonly interruption: AbortSignal
  /** Whether this process runs the session, so that its work ends with it. */
  readonly isHere: () => boolean
}

async function submitHere(
  handle: SessionHandle,
  command: CommandInput,
  print: (answer: Answer) => Promise<void>,
  { context: { err }, interruption, isHere }: SubmitHere,
): Promise<CommandResult> {
  const before = orThrow(await handle.snapshot())
  const abort = () => void handle.submit({ type: 'abort' })
  interruption.addEventListener('abort', abort, { once: true }) // a summary is written before its command is answered
  const answered = await handle.submit(command).finally(() => interruption.removeEventListener('abort', abort))
  if (interruption.aborted && !answered.ok) return exitCodes.interrupted
  const answer = orThrow(answered)
  await print(answer)
  if (!isHere()) return exitCodes.ok // the process that owns the session goes on with it
  const view = await waitUntilIdle(handle, before, answer.seq, interruption)
  if (interruption.aborted) {
    await handle.submit({ type: 'abort' })
    return exitCodes.interrupted
  }
  const next = nextStep(view, err)
  if (next !== null) await err.write(`${next}\n`)
  return view.lastTurn?.reason === 'failed' && startsWork(command) ? exitCodes.failed : exitCodes.ok
}

const startsWork = ({ type }: CommandInput): boolean =>
  ['sendPrompt', 'queueSteering', 'queueFollowUp', 'continue', 'respondToApproval', 'setToolTrust'].includes(type)

/** Returns what the user may have to do next, or null. */
function nextStep({ pendingApprovals, lastTurn }: SessionView, err: Output): string | null {
  const [asked] = pendingApprovals
  if (asked)
    return askedText(`Approval ${asked.id} is open: ${escapeLine(asked.tool)} asks to run:`, asked.preview, err)
  return lastTurn?.fault ? err.wrap(escapeHidden(lastTurn.fault.message)) : null
}

/** Follows the session until it has passed `seq` and has no work left that this process would have to do. */
async function waitUntilIdle(
  handle: SessionHandle,
  start: FrameOf<'snapshot'>,
  seq: Seq,
  signal: AbortSignal,
): Promise<SessionView> {
  let { view } = start
  if (start.seq >= seq && isIdle(view)) return view
  const leave = new AbortController()
  try {
    const until = AbortSignal.any([signal, leave.signal])
    for await (const frame of handle.subscribe({ after: start.seq, signal: until })) {
      if (frame.type !== 'record') continue
      view = addToView(view, frame.record)
      if (frame.record.seq >= seq && isIdle(view)) break
    }
    return view
  } finally {
    leave.abort()
  }
}

/** Whether the session rests, or all its open calls wait for an approval. */
const isIdle = ({ activity, pendingApprovals, activeToolCalls }: SessionView): boolean =>
  activity === 'idle' ||
  activity === 'error' ||
  (pendingApprovals.length > 0 && pendingApprovals.length === activeToolCalls.length)
