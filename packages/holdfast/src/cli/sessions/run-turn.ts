import { randomUUID } from 'node:crypto'
import type { FollowOptions } from '@holdfast/client'
import { createTurnSummary, type TurnEnded, type TurnSummary } from '@holdfast/client/internal'
import {
  type Answer,
  addToView,
  CommandId,
  type CommandInput,
  commandResult,
  Decision,
  type Fault,
  type FrameOf,
  fault,
  type Meta,
  noUsage,
  ok,
  type Result,
  refuse,
  type SessionHandle,
  type SessionView,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { previewText } from '../render/preview-text.ts'
import { createRunOutput, type MarkdownPrinter, type RunOutput } from '../render/run-output.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type ExitCode, exitCodes } from '../terminal/exit.ts'
import { createPaint } from '../terminal/output.ts'
import { type Approvals, createAnswering, isLeftOpen, isRejectedUnasked } from './answer-calls.ts'
import { changedText } from './changed-text.ts'

/** A command that starts a turn, or lets one go on. */
export type TurnCommand = Extract<
  CommandInput,
  { readonly type: 'sendPrompt' | 'continue' | 'queueSteering' | 'queueFollowUp' | 'respondToApproval' }
>

type RunTurnOptions = {
  readonly approvals: Approvals
  /** What happens if the command is queued because a turn runs: wait for its own turn, or only say that it is queued. */
  readonly queued: 'wait' | 'say'
  /** Whether the session was started for this turn; then its first records are printed too. */
  readonly isNew: boolean
  readonly isJson: boolean
  readonly context: Pick<CliContext, 'out' | 'err' | 'keyboard'>
  /** Draws the answer at a terminal. */
  readonly markdown?: MarkdownPrinter | undefined
  readonly interruption: AbortSignal
  /** Called when the answer to an approval was accepted. */
  readonly onAnswered?: (answer: Answer) => Promise<void>
}

/** Sends a command that starts a turn or lets one go on, and waits for the end of it. It does not become the driver, so that an attached person can be. */
export async function runTurn(
  handle: SessionHandle,
  command: TurnCommand,
  options: RunTurnOptions,
): Promise<Result<ExitCode>> {
  const { context, interruption, isJson, isNew } = options
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) return snapshot
  const { meta, seq } = snapshot.value
  let { view } = snapshot.value
  if (view.pendingApprovals.length > 0 && isRejectedUnasked(options)) return refuse(openApproval(snapshot.value))

  const output = createRunOutput(isJson, { ...context, markdown: options.markdown, calls: view.activeToolCalls })
  if (meta.persist !== false) await output.note(`session ${meta.handle}, ${escapeLine(meta.model)}`)
  const commandId = CommandId.parse(randomUUID())
  const isAnswer = command.type === 'respondToApproval'
  const running = isAnswer && isBusy(view) ? (snapshot.value.messages.at(-1)?.turn ?? null) : null
  const summary = createTurnSummary((record) => record.commandId === commandId, running)
  const leave = new AbortController()
  const answering = createAnswering({ ...options, handle, output })
  const connection = createConnectionNotes(output)
  const abort = async () => {
    if (connection.isLost()) return leave.abort()
    const aborted = await handle.submit({ type: 'abort' })
    if (!aborted.ok) leave.abort() // then there is no end to wait for
  }
  const onInterruption = () => {
    void output.tell('Aborting. Press Ctrl-C again to quit at once.')
    void abort()
  }
  const alive = setInterval(() => undefined, 60_000) // a stream of this process does not keep it running
  try {
    const following: FollowOptions = { after: isNew ? 0 : seq, signal: leave.signal, onConnection: connection.tell }
    const frames = handle.subscribe(following)[Symbol.asyncIterator]()
    const first = frames.next() // subscribes before the command is sent, to get the whole answer
    if (interruption.aborted) return ok(exitCodes.interrupted)
    const sent = await handle.submit(command, { commandId })
    if (!sent.ok) return sent
    const ran = command.type === 'sendPrompt' ? commandResult('sendPrompt', sent.value).ran : undefined
    if (ran !== undefined) return ok(await finishCommand(handle, { ran, answer: sent.value }, output, options))
    if (isAnswer) await options.onAnswered?.(sent.value)
    if (isAnswer && running === null) return ok(exitCodes.ok) // a subagent in the background asked: there is no turn
    const { queued } = sent.value.result
    if (typeof queued === 'string' && options.queued === 'say') {
      await context.out.write(`Accepted (seq ${sent.value.seq}), queued as ${escapeLine(queued)}.\n`)
      return ok(exitCodes.ok)
    }
    interruption.addEventListener('abort', onInterruption)
    if (interruption.aborted) onInterruption() // interrupted while the command was being sent
    answering.answerOpen(isAnswer ? await readOpen(handle) : view.pendingApprovals)

    for (let next = await first; !next.done; next = await frames.next()) {
      const frame = next.value
      // What was recorded since the snapshot and before the answer is not part of what goes on.
      if (isAnswer && frame.type === 'record' && frame.record.seq < sent.value.seq) {
        view = addToView(view, frame.record)
        continue
      }
      await output.show(frame)
      if (frame.type === 'child' && frame.view) answering.onChild(frame.view)
      if (frame.type !== 'record') continue
      summary.add(frame.record)
      view = addToView(view, frame.record)
      answering.onRecord(frame.record)
      if (summary.end) return ok(await finish({ handle, meta }, summary.end, summary, output, options))
      if (!isLeftOpen(options) || !isOnlyWaiting(view)) continue
      await answering.settled()
      return ok(await finishOpen(meta, view, output))
    }
    if (interruption.aborted) return ok(exitCodes.interrupted)
    return refuse(
      fault('session_stopped', 'The session stopped before its turn ended. See holdfast show.', { session: handle.id }),
    )
  } catch (error) {
    await abort() // the answer has no reader any more, as when a pipe was closed
    throw error
  } finally {
    clearInterval(alive)
    interruption.removeEventListener('abort', onInterruption)
    leave.abort()
    await answering.end()
  }
}

const isBusy = ({ activity }: SessionView): boolean => activity !== 'idle' && activity !== 'error'

/** Returns the approvals that wait now. */
async function readOpen(handle: SessionHandle): Promise<SessionView['pendingApprovals']> {
  const found = await handle.state(['pendingApprovals'])
  return found.ok ? found.value.pendingApprovals : []
}

/** Says once that the server cannot be reached. */
function createConnectionNotes(output: RunOutput) {
  let isLost = false
  const tell: FollowOptions['onConnection'] = ({ state }) => {
    if (state === 'waiting' && !isLost) void output.tell('Cannot reach the server; retrying.')
    if (state === 'waiting' || state === 'live') isLost = state === 'waiting'
  }
  return { tell, isLost: () => isLost }
}

/** Returns whether the turn goes on only when somebody answers. */
const isOnlyWaiting = ({ pendingApprovals, activeToolCalls }: SessionView): boolean =>
  pendingApprovals.length > 0 && pendingApprovals.length === activeToolCalls.length

/** Says how to answer what waits. */
async function finishOpen({ handle }: Meta, { pendingApprovals }: SessionView, output: RunOutput): Promise<ExitCode> {
  const ids = pendingApprovals.map(({ id }) => id)
  const which = ids.length === 1 ? `Approval ${ids[0]} is open.` : `Approvals ${ids.join(', ')} are open.`
  await output.tell(`${which} To answer: ${answerCommand(handle)}`)
  return exitCodes.ok
}

const answerCommand = (handle: string): string =>
  `holdfast tell ${handle} respondToApproval decision=${Decision.options.join('|')}`

type Ran = { readonly handle: SessionHandle; readonly meta: Meta }

async function finish(
  { handle, meta }: Ran,
  end: TurnEnded,
  { text, usage }: TurnSummary,
  output: RunOutput,
  { interruption, isJson, context }: RunTurnOptions,
): Promise<ExitCode> {
  const { reason, fault: why } = end
  const after = await handle.snapshot()
  const status = after.ok ? after.value.view.status : reason === 'failed' ? 'error' : 'idle'
  await output.end({ sessionId: handle.id, text, status, usage, reason, ...(why && { fault: why }) })
  if (reason !== 'done') await output.tell(escapeHidden(why?.message ?? unfinished[reason]))
  // At a terminal, or after a turn that did not end well, a person wants to know how to go on.
  if (!isJson && meta.persist !== false && (context.err.isTerminal || reason !== 'done'))
    await output.note(context.err.paint.dim(context.err.wrap(howToGoOn(meta.handle, reason))))
  if (reason === 'done') return exitCodes.ok
  return interruption.aborted && reason === 'aborted' ? exitCodes.interrupted : exitCodes.failed
}

/** Prints the answer of a built-in slash command, which has no turn. */
async function finishCommand(
  handle: SessionHandle,
  { ran, answer }: { readonly ran: string; readonly answer: Answer },
  output: RunOutput,
  { isJson, context }: RunTurnOptions,
): Promise<ExitCode> {
  const after = await handle.snapshot()
  const note = after.ok
    ? after.value.messages.find(({ id, kind }) => id === answer.seq && kind === 'system')
    : undefined
  const text = note?.kind === 'system' ? note.text : ''
  if (!isJson && text !== '') await context.out.write(`${escapeHidden(text)}\n`)
  const status = after.ok ? after.value.view.status : 'idle'
  await output.end({ sessionId: handle.id, text, status, usage: noUsage, reason: 'done' })
  if (text === '') await output.tell(changedText(answer) ?? `/${ran}: done.`)
  return exitCodes.ok
}

const unfinished: Readonly<Record<Exclude<TurnEnded['reason'], 'done'>, string>> = {
  aborted: 'The turn was aborted.',
  failed: 'The turn failed.',
  interrupted: 'The turn was interrupted.',
  limit: 'The turn reached its limit of steps. Send another prompt to continue.',
}

/** Returns the commands that go on with a session. */
const howToGoOn = (handle: string, reason: TurnEnded['reason']): string =>
  reason === 'done'
    ? `To go on: holdfast run -s ${handle} "…"`
    : `Everything so far is saved. To go on:\n  holdfast tell ${handle} continue\n  holdfast run -s ${handle} "…"`

function openApproval({ meta, view }: FrameOf<'snapshot'>): Fault {
  const [asked] = view.pendingApprovals
  const [preview = ''] = asked ? previewText(asked.preview, createPaint(false)).split('\n', 1) : [] // a diff has many lines
  const what = asked ? `${asked.tool}: ${preview}` : 'a call'
  const message = `Session ${meta.handle} waits for an approval of ${what}. Answer with --yes, with --no, or with ${answerCommand(meta.handle)}.`
  return fault('turn_running', message, { session: meta.id, approvals: view.pendingApprovals.map(({ id }) => id) })
}
