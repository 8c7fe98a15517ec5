import type { ModelRequest, RequestMessage } from '@holdfast/core/ports'

/** A small valid request, of which a test changes what it is about. */
export const aRequest = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'scripted/model',
  thinkingLevel: 'off',
  system: 'You are careful.',
  tools: [],
  messages: [userSays('hello')],
  ...changes,
})

export const userSays = (text: string): RequestMessage => ({ role: 'user', content: [{ type: 'text', text }] })
