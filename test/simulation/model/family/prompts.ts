import { limits, type Queue } from '@holdfast/protocol'
import fc from 'fast-check'
import { accepted, type Outcome, refused, type State } from '../state.ts'
import { addUserMessage, beginTurn } from '../turn-progress.ts'
import type { CommandTemplate, Family } from './family.ts'

export const aText = fc.constantFrom('a', 'b', 'c', ' ')

export const sendPrompt = (content: string): CommandTemplate => ({
  code: `sendPrompt('${content}')`,
  command: () => ({ type: 'sendPrompt', content }),
})
export const queueSteering = (content: string): CommandTemplate => ({
  code: `queueSteering('${content}')`,
  command: () => ({ type: 'queueSteering', content }),
})
export const queueFollowUp = (content: string): CommandTemplate => ({
  code: `queueFollowUp('${content}')`,
  command: () => ({ type: 'queueFollowUp', content }),
})

/** A prompt starts a turn if the session is idle, otherwise it is queued. */
function prompt(state: State, queue: Queue, content: unknown, seq: number): Outcome {
  const text = String(content)
  if (text.trim() === '') return refused(state, 'empty_prompt')
  if (!state.turn) return accepted(addUserMessage(beginTurn(state), text))
  const { steering, followUps } = state
  if (steering.length + followUps.length >= limits.promptsQueuedMax) return refused(state, 'queue_full')
  const entry = { id: seq, queue, text }
  const queued = queue === 'steering' ? { steering: [...steering, entry] } : { followUps: [...followUps, entry] }
  return accepted({ ...state, ...queued }, { queued: queue })
}

export const prompts: Family = {
  templates: [aText.map(sendPrompt), aText.map(queueSteering), aText.map(queueFollowUp)],
  rules: {
    sendPrompt: (state, { content }, { seq }) => prompt(state, 'steering', content, seq),
    queueSteering: (state, { content }, { seq }) => prompt(state, 'steering', content, seq),
    queueFollowUp: (state, { content }, { seq }) => prompt(state, 'follow_up', content, seq),
  },
}
