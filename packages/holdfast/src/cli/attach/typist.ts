import {
  type Answer,
  type Answers,
  type CommandInput,
  commandResult,
  type Decision,
  type Result,
  type SessionHandle,
  type Sessions,
} from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { RunOutput } from '../render/run-output.ts'
import { changedText, movedText } from '../sessions/changed-text.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type PlainDeps, runPlainCommand } from './plain-commands.ts'
import { createQuestionForm } from './question-form.ts'
import type { OpenQuestion, Screen } from './screen.ts'

type TypistDeps = {
  readonly handle: SessionHandle
  readonly client: string
  readonly screen: Screen
  readonly output: RunOutput
  readonly sessions: Sessions
  readonly context: CliContext
  readonly leave: () => void
}

const decisions: Readonly<Record<string, Decision>> = {
  y: 'approve',
  yes: 'approve',
  t: 'approve_turn',
  s: 'approve_session',
  a: 'approve_always',
  n: 'reject',
  no: 'reject',
}

/** Sends what the user types: prompts, slash commands, and answers to questions. */
export function createTypist({ handle, client, screen, output, sessions, context, leave }: TypistDeps) {
  let lastSeq = -1

  async function send(command: CommandInput): Promise<Result<Answer>> {
    const answer = await handle.submit(command, { as: client })
    if (!answer.ok) {
      const { code, message, details } = answer.fault
      // With `needs` the token does not allow it, so taking control would not help.
      const isWatching = code === 'not_driver' && details?.['needs'] === undefined && command.type !== 'claimDriver'
      await output.tell(escapeHidden(isWatching ? `${message} /drive takes control.` : message))
      return answer
    }
    lastSeq = Math.max(lastSeq, answer.value.seq)
    if (command.type !== 'sendPrompt') return answer
    const { queued } = commandResult('sendPrompt', answer.value)
    if (queued !== undefined) await output.tell('Queued: it joins the running turn at its next step.')
    const moved = typeof command.content === 'string' ? movedText(command.content, answer.value) : null
    const changed = moved ?? changedText(answer.value)
    if (changed !== null) await output.tell(changed)
    return answer
  }

  const form = createQuestionForm(output.tell)
  const plain: PlainDeps = { handle, sessions, context, note: output.note, tell: output.tell, send, leave }

  const answer = (
    question: OpenQuestion,
    reply: { readonly decision: Decision; readonly answers?: Answers; readonly message?: string },
  ) =>
    send({
      type: 'respondToApproval',
      ...reply,
      approval: question.id,
      ...(question.child && { child: question.child.id }),
    })

  /** Adds a line to the open form, and sends the answers when it is complete. */
  async function fill(question: OpenQuestion, text: string): Promise<void> {
    if (text === '/cancel') return void (await answer(question, { decision: 'cancel' }))
    const answers = await form.add(text)
    if (answers !== null) await answer(question, { decision: 'approve', answers })
  }

  /** Answers the oldest question if the text is an answer to it. */
  async function decide(question: OpenQuestion, text: string): Promise<'answered' | 'no answer'> {
    const [word = '', ...reason] = text.split(' ')
    const decision = Object.hasOwn(decisions, word.toLowerCase()) ? decisions[word.toLowerCase()] : undefined
    const { preview } = question
    const isLonger = decision !== undefined && decision !== 'approve' && decision !== 'reject'
    if (!decision || (preview.type === 'question' && isLonger)) return 'no answer'
    if (reason.length > 0 && (decision !== 'reject' || preview.type === 'question')) return 'no answer'
    if (decision === 'approve' && preview.type === 'question' && preview.fields.length > 0)
      await form.open(question, preview.fields)
    else await answer(question, { decision, ...(reason.length > 0 && { message: reason.join(' ') }) })
    return 'answered'
  }

  return {
    /** Handles a typed line. */
    async type(line: string): Promise<void> {
      const text = line.trim()
      const questions = screen.isDriving() ? screen.questions() : []
      const filling = form.current(questions)
      if (text === '/leave') return leave()
      if (text === '/drive') return void (await send({ type: 'claimDriver', takeOver: true }))
      if (filling) return fill(filling, text)
      if (text === '') return
      const [oldest] = questions
      if (oldest && (await decide(oldest, text)) === 'answered') return
      // A space before the slash sends it as a text.
      if (line.startsWith('/') && (await runPlainCommand(text, plain))) return
      await send({ type: 'sendPrompt', content: line })
    },
    /** Returns the position of the newest record that a command of this client made; -1 for none. */
    lastSeq: () => lastSeq,
    /** Aborts the turn, if this client drives one. */
    async interrupt(): Promise<'aborted' | 'nothing runs'> {
      if (!screen.isDriving() || !screen.isRunning()) return 'nothing runs'
      await output.tell('Aborting. Press Ctrl-C again to leave.')
      await send({ type: 'abort' })
      return 'aborted'
    },
  }
}
