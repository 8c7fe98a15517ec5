import {
  askText,
  type ChildView,
  type CommandInput,
  type PendingApproval,
  type Preview,
  type QuestionPreview,
  type Recorded,
  type SessionHandle,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { askedText } from '../render/preview-text.ts'
import type { RunOutput } from '../render/run-output.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import type { AskDeps } from '../terminal/prompt-user.ts'
import { askApproval } from './ask-approval.ts'
import { askPerson } from './ask-questions.ts'
import { createAskQueue } from './ask-queue.ts'

/** How the calls of a turn are answered. */
export type Approvals = {
  /** By a flag, or by the person at the terminal. */
  readonly by: 'approve' | 'reject' | 'person'
  /** What happens to a call that a person should answer if there is none: it is rejected, or stays open. */
  readonly unattended: 'reject' | 'leave'
}

type AnsweringDeps = {
  readonly handle: SessionHandle
  readonly output: RunOutput
  readonly approvals: Approvals
  readonly isJson: boolean
  readonly context: Pick<CliContext, 'err' | 'keyboard'>
  readonly interruption: AbortSignal
}

type Answer = Omit<Extract<CommandInput, { readonly type: 'respondToApproval' }>, 'type' | 'approval' | 'child'>

/** What a call asks: an approval, or a question of its server. */
type Asked = Pick<PendingApproval, 'tool' | 'preview' | 'changed' | 'reason'> & {
  readonly id: number
  /** The subagent that asks; absent if the session itself does. */
  readonly child?: ChildView | undefined
}

/** Answers given without a person, by the flags. */
const withoutPerson = {
  approve: { decision: 'approve', via: '--yes', notice: 'Approved by --yes.' },
  reject: { decision: 'reject', via: '--no', notice: 'Rejected by --no.' },
  person: {
    decision: 'reject',
    via: 'holdfast run',
    notice: 'Rejected: run cannot ask you here. Use --yes to approve.',
  },
} as const

const keyOf = ({ id, child }: Pick<Asked, 'id' | 'child'>): string => `${child?.id ?? ''} ${id}`

type AskingDeps = Pick<AnsweringDeps, 'approvals' | 'isJson' | 'context'>

/** Returns whether nobody here answers the calls, and they are not rejected either. */
export const isLeftOpen = (deps: AskingDeps): boolean =>
  deps.approvals.by === 'person' && deps.approvals.unattended === 'leave' && findPerson(deps) === null

/** Returns whether calls are rejected because no person is there. */
export const isRejectedUnasked = (deps: AskingDeps): boolean =>
  deps.approvals.by === 'person' && deps.approvals.unattended === 'reject' && findPerson(deps) === null

function findPerson({ approvals, isJson, context: { err, keyboard } }: AskingDeps): Omit<AskDeps, 'signal'> | null {
  const input = approvals.by === 'person' && !isJson && err.isTerminal ? keyboard() : null
  return input && { input, err }
}

/** Answers what the calls of a turn ask, in the order in which they ask. */
export function createAnswering(deps: AnsweringDeps) {
  const { handle, output, approvals, context, interruption } = deps
  const queue = createAskQueue(interruption)
  const person = findPerson(deps)
  const isLeft = isLeftOpen(deps)
  const told = new Set<string>()
  /** The approval that each call waits for. */
  const approvalOf = new Map<number, number>()

  /** Sends an answer. Returns whether the call is answered now, by this or by another client. */
  async function submit({ id, child }: Asked, answer: Answer): Promise<boolean> {
    const answered = await handle.submit({
      type: 'respondToApproval',
      approval: id,
      ...answer,
      ...(child && { child: child.id }),
    })
    if (answered.ok || answered.fault.code === 'already_decided') return true
    await output.tell(escapeHidden(answered.fault.message))
    return false
  }

  async function answerQuestion(asked: Asked, preview: QuestionPreview, signal: AbortSignal): Promise<void> {
    const notice = isLeft ? '' : '\n  Cancelled: run cannot ask you here.'
    if (!person) await output.tell(`? ${escapeLine(preview.from)} asks: ${escapeHidden(preview.message)}${notice}`)
    if (isLeft) return
    const reply = person ? await askPerson(preview, { ...person, signal }) : ({ decision: 'cancel' } as const)
    if (!signal.aborted) await submit(asked, { ...reply, ...(!person && { via: 'holdfast run' }) })
  }

  /** Asks until an answer is accepted: a refused one, such as `always` without the right to it, is asked again. */
  async function askForApproval(asked: Asked, ask: Omit<AskDeps, 'signal'>, signal: AbortSignal): Promise<void> {
    for (;;) {
      const reply = await askApproval(asked, { ...ask, signal })
      if (reply === null || signal.aborted) {
        if (signal.aborted && !interruption.aborted) await output.tell('  It was answered elsewhere.')
        return
      }
      if (await submit(asked, reply)) return
    }
  }

  /** Returns whether an approval still waits: the answer to the one before, such as `this turn`, may have covered it. */
  async function isOpen({ id, child }: Asked): Promise<boolean> {
    if (child) return true // its state is told by frames only
    const found = await handle.state(['pendingApprovals'])
    return !found.ok || found.value.pendingApprovals.some((open) => open.id === id)
  }

  async function answerApproval(asked: Asked, preview: Preview, signal: AbortSignal): Promise<void> {
    if (person && (!(await isOpen(asked)) || signal.aborted)) return
    const asks = askText(asked)
    const why = `${asked.changed ? ', because the file changed' : ''}${asks === null ? '' : ` (${escapeLine(asks)})`}`
    const whose = asked.child ? `subagent ${asked.child.handle}: ` : ''
    const what = askedText(`? ${whose}${escapeLine(asked.tool)} asks to run${why}:`, preview, context.err)
    if (person || isLeft) await output.note(what)
    if (person) return askForApproval(asked, person, signal)
    if (isLeft) return
    const { decision, via, notice } = withoutPerson[approvals.by]
    await output.note(`${what}\n${context.err.wrap(`  ${notice}`)}`)
    const message = 'no person is present who could approve it. Do not ask for it again.'
    await submit(asked, { decision, via, ...(decision === 'reject' && { message }) })
  }

  /** Starts to answer, once. */
  function answer(asked: Asked): void {
    if (told.has(keyOf(asked))) return
    told.add(keyOf(asked))
    const { preview } = asked
    queue.ask(keyOf(asked), (signal) =>
      preview.type === 'question' ? answerQuestion(asked, preview, signal) : answerApproval(asked, preview, signal),
    )
  }

  return {
    /** Answers what already waits. */
    answerOpen(open: readonly PendingApproval[]): void {
      for (const asked of open) answer(asked)
    },
    /** Answers what a record asks, and stops asking what it settles. */
    onRecord({ seq, event }: Recorded): void {
      if (event.type === 'approval.asked') {
        approvalOf.set(event.call, seq)
        answer({ ...event, id: seq })
      }
      if (event.type === 'question.asked') answer({ id: seq, preview: event.preview, tool: '' })
      if (event.type === 'question.answered') queue.drop(keyOf({ id: event.question }))
      if (event.type === 'call.approved' || event.type === 'call.settled')
        queue.drop(keyOf({ id: approvalOf.get(event.call) ?? -1 }))
    },
    /** Answers what a subagent asks, as if the session itself asked. */
    onChild(child: ChildView): void {
      const open = new Set(child.pendingApprovals.map(({ id }) => keyOf({ id, child })))
      for (const key of told) if (key.startsWith(`${child.id} `) && !open.has(key)) queue.drop(key)
      for (const asked of child.pendingApprovals) answer({ ...asked, child })
    },
    settled: queue.settled,
    end: queue.end,
  }
}
