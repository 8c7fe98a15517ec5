import { type CallId, createSerialQueue, limits, type QuestionPreview, type QuestionReply } from '@holdfast/protocol'
import { toShow } from '../../policy/preview.ts'
import { findCall } from '../../session/state.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'

const cancelled: QuestionReply = { action: 'cancel' }

/**
 * Returns the function with which a running call asks a person. Its questions are put one after the other, and each is on record
 * before it is shown. It resolves with `cancel` if the turn is stopped, or if the call asks too often or too much.
 */
export function createAsk(
  deps: Pick<EffectDeps, 'state' | 'clock' | 'questions'>,
  call: CallId,
  { signal, report }: EffectRun,
): (question: QuestionPreview) => Promise<QuestionReply> {
  const oneByOne = createSerialQueue()
  let asked = 0
  const ask = async (question: QuestionPreview): Promise<QuestionReply> => {
    asked += 1
    if (signal.aborted || asked > limits.questionsPerCallMax || isTooLong(question)) return cancelled
    const { promise, resolve } = Promise.withResolvers<QuestionReply>()
    const cancel = () => resolve(cancelled)
    signal.addEventListener('abort', cancel, { once: true })
    deps.questions.set(call, resolve)
    try {
      const preview = toShow(question) as QuestionPreview // of the same type
      const recorded = await report({ type: 'question.asked', call, preview, atMs: deps.clock.now() })
      const running = findCall(deps.state(), call)
      // If it was answered meanwhile, the promise has its answer already.
      if (!recorded.ok || running?.status !== 'started' || !running.question) cancel()
      return await promise
    } finally {
      deps.questions.delete(call)
      signal.removeEventListener('abort', cancel)
    }
  }
  return (question) => oneByOne(() => ask(question))
}

const isTooLong = (question: QuestionPreview): boolean =>
  question.fields.length > limits.questionFieldsMax ||
  Buffer.byteLength(JSON.stringify(question)) > limits.previewBytesMax
