import { randomUUID } from 'node:crypto'
import type { FollowOptions } from '@holdfast/client'
import { createTurnSummary, type TurnEnded, type TurnSummary } from '@holdfast/client/internal'
import {
  askText,
  type ChildView,
  CommandId,
  commandResult,
  Decision,
  type Fault,
  type FrameOf,
  fault,
  noUsage,
  ok,
  type PendingApproval,
  type Result,
  refuse,
  type SessionHandle,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { createRunOutput, previewText, type RunOutput } from '../render/run-output.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type ExitCode, exitCodes } from '../terminal/exit.ts'
import { createPaint } from '../terminal/output.ts'
import type { AskDeps } from '../terminal/prompt-user.ts'
import { createQuestions } from './ask-questions.ts'

type RunTurnOptions = {
  /** The answer to every approval; `unattended` rejects it because no person can be asked. */
  readonly approvals: 'approve' | 'reject' | 'unattended'
  /** Whether the session was started for this turn; then its first records are printed too. */
  readonly isNew: boolean
  readonly isJson: boolean
  readonly context: Pick<CliContext, 'out' | 'err' | 'input'>
  readonly interruption: AbortSignal
}

/** Sends a prompt and waits for the end of its turn. It does not become the driver, so that an attached person can be. */
export async function runTurn(
  handle: SessionHandle,
  prompt: string,
  options: RunTurnOptions,
): Promise<Result<ExitCode>> {
  const { context, interruption, isJson, isNew } = options
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) return snapshot
  const { meta, seq, view } = snapshot.value
  if (view.pendingApprovals.length > 0 && options.approvals === 'unattended')
    return refuse(openApproval(snapshot.value))

  const output = createRunOutput(isJson, context)
  if (meta.persist !== false) await output.note(`session ${meta.handle}, ${escapeLine(meta.model)}`)
  const commandId = CommandId.parse(randomUUID())
  const summary = createTurnSummary((record) => record.commandId === commandId)
  const leave = new AbortController()
  const questions = createQuestions({ handle, output, interruption, terminal: () => terminalOf(options) })
  let isLost = false
  const onConnection: FollowOptions['onConnection'] = ({ state }) => {
    if (state === 'waiting' && !isLost) void output.note('Cannot reach the server; retrying.')
    if (state === 'waiting' || state === 'live') isLost = state === 'waiting'
  }
  const abort = async () => {
    if (isLost) return leave.abort()
    const aborted = await handle.submit({ type: 'abort' })
    if (!aborted.ok) leave.abort() // then there is no end to wait for
  }
  const answered = new Set<string>()
  /** Answers the approvals of subagents as those of the session itself, once each. */
  const answerChild = async ({ view: child }: FrameOf<'child'>) => {
    for (const asked of child?.pendingApprovals ?? []) {
      const key = `${child?.id} ${asked.id}`
      if (answered.has(key)) continue
      answered.add(key)
      await answerApproval(handle, { ...asked, child }, options, output)
    }
  }
  const onInterruption = () => {
    void output.note('Aborting. Press Ctrl-C again to quit at once.')
    void abort()
  }
  try {
    const following: FollowOptions = { after: isNew ? 0 : seq, signal: leave.signal, onConnection }
    const frames = handle.subscribe(following)[Symbol.asyncIterator]()
    const first = frames.next() // subscribes before the prompt is sent, to get the whole answer
    if (interruption.aborted) return ok(exitCodes.interrupted)
    const sent = await handle.submit({ type: 'sendPrompt', content: prompt }, { commandId })
    if (!sent.ok) return sent
    const { ran } = commandResult('sendPrompt', sent.value)
    if (ran !== undefined) return ok(await finishCommand(handle, { ran, seq: sent.value.seq }, output, options))
    interruption.addEventListener('abort', onInterruption)
    if (interruption.aborted) onInterruption() // interrupted while the prompt was being sent
    for (const { id, preview, ...pending } of view.pendingApprovals)
      if (preview.type === 'question') questions.ask({ id, preview })
      else await answerApproval(handle, { ...pending, id, preview }, options, output)

    for (let next = await first; !next.done; next = await frames.next()) {
      const frame = next.value
      await output.show(frame)
      if (frame.type === 'child') await answerChild(frame)
      if (frame.type !== 'record') continue
      const { seq: id, event } = frame.record
      summary.add(frame.record)
      if (event.type === 'approval.asked') await answerApproval(handle, { ...event, id }, options, output)
      if (event.type === 'question.asked') questions.ask({ id, preview: event.preview })
      if (event.type === 'question.answered') questions.drop(event.question)
      if (summary.end) return ok(await finish(handle, summary.end, summary, output, options))
    }
    if (interruption.aborted) return ok(exitCodes.interrupted)
    return refuse(
      fault('session_stopped', 'The session stopped before its turn ended. See holdfast show.', { session: handle.id }),
    )
  } catch (error) {
    await abort() // the answer has no reader any more, as when a pipe was closed
    throw error
  } finally {
    interruption.removeEventListener('abort', onInterruption)
    leave.abort()
    await questions.end()
  }
}

/** Returns the terminal where a person can answer questions. With --yes and --no nobody is asked anything. */
function terminalOf({ approvals, isJson, context: { input, err } }: RunTurnOptions): Omit<AskDeps, 'signal'> | null {
  if (approvals !== 'unattended' || isJson) return null
  const terminal = input()
  return terminal.isTTY ? { input: terminal, err } : null
}

/** How a run answers an approval, by its flags. */
const answers = {
  approve: { decision: 'approve', via: '--yes', notice: 'Approved by --yes.' },
  reject: { decision: 'reject', via: '--no', notice: 'Rejected by --no.' },
  unattended: {
    decision: 'reject',
    via: 'holdfast run',
    notice: 'Rejected: run cannot ask you. Use --yes to approve.',
  },
} as const

type AskedCall = Pick<PendingApproval, 'tool' | 'preview' | 'changed' | 'reason'> & {
  readonly id: number
  /** The subagent that asks; absent if the session itself does. */
  readonly child?: ChildView | undefined
}

async function answerApproval(
  handle: SessionHandle,
  asked: AskedCall,
  options: RunTurnOptions,
  output: RunOutput,
): Promise<void> {
  const { approvals, context } = options
  const { decision, via, notice } = answers[approvals]
  const asks = askText(asked)
  const why = `${asked.changed ? ', because the file changed' : ''}${asks === null ? '' : ` (${escapeLine(asks)})`}`
  const whose = asked.child ? `subagent ${asked.child.handle}: ` : ''
  const what = `${whose}${escapeLine(asked.tool)} asks to run${why}: ${previewText(asked.preview, context.err.paint)}`
  await output.note(`? ${what}\n  ${notice}`)
  const message = 'no person is present who could approve it. Do not ask for it again.'
  const answered = await handle.submit({
    type: 'respondToApproval',
    decision,
    approval: asked.id,
    ...(asked.child && { child: asked.child.id }),
    via,
    ...(decision === 'reject' && { message }),
  })
  if (!answered.ok && answered.fault.code !== 'already_decided') await output.note(escapeHidden(answered.fault.message))
}

async function finish(
  handle: SessionHandle,
  end: TurnEnded,
  { text, usage }: TurnSummary,
  output: RunOutput,
  { interruption }: RunTurnOptions,
): Promise<ExitCode> {
  const { reason, fault: why } = end
  const after = await handle.snapshot()
  const status = after.ok ? after.value.view.status : reason === 'failed' ? 'error' : 'idle'
  await output.end({ sessionId: handle.id, text, status, usage, reason, ...(why && { fault: why }) })
  if (reason !== 'done') await output.note(escapeHidden(why?.message ?? unfinished[reason]))
  if (reason === 'done') return exitCodes.ok
  return interruption.aborted && reason === 'aborted' ? exitCodes.interrupted : exitCodes.failed
}

/** Prints the answer of a built-in slash command, which has no turn. */
async function finishCommand(
  handle: SessionHandle,
  { ran, seq }: { readonly ran: string; readonly seq: number },
  output: RunOutput,
  { isJson, context }: RunTurnOptions,
): Promise<ExitCode> {
  const after = await handle.snapshot()
  const note = after.ok ? after.value.messages.find(({ id, kind }) => id === seq && kind === 'system') : undefined
  const text = note?.kind === 'system' ? note.text : ''
  if (!isJson && text !== '') await context.out.write(`${escapeHidden(text)}\n`)
  const status = after.ok ? after.value.view.status : 'idle'
  await output.end({ sessionId: handle.id, text, status, usage: noUsage, reason: 'done' })
  if (text === '') await output.note(`/${ran}: done.`)
  return exitCodes.ok
}

const unfinished: Readonly<Record<Exclude<TurnEnded['reason'], 'done'>, string>> = {
  aborted: 'The turn was aborted.',
  failed: 'The turn failed.',
  interrupted: 'The turn was interrupted.',
  limit: 'The turn reached its limit of steps. Send another prompt to continue.',
}

function openApproval({ meta, view }: FrameOf<'snapshot'>): Fault {
  const [asked] = view.pendingApprovals
  const [preview = ''] = asked ? previewText(asked.preview, createPaint(false)).split('\n', 1) : [] // a diff has many lines
  const what = asked ? `${asked.tool}: ${preview}` : 'a call'
  const message = `Session ${meta.handle} waits for an approval of ${what}. Answer with --yes, with --no, or with holdfast tell ${meta.handle} respondToApproval decision=${Decision.options.join('|')}.`
  return fault('turn_running', message, { session: meta.id, approvals: view.pendingApprovals.map(({ id }) => id) })
}
