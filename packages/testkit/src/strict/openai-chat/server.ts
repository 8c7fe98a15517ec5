import { firstComplaint, hasUnpairedSurrogate, shapeComplaint } from '../base/complaints.ts'
import { openAiError, unreadableBody } from '../base/openai.ts'
import {
  createStrictApi,
  type StrictApi,
  type StrictApiDefinition,
  type StrictServer,
  startStrictServer,
} from '../base/server.ts'
import { type ChatAnswer, chunksOf } from './answer.ts'
import { complaintAbout } from './rules.ts'
import { ChatRequest } from './wire.ts'

/** A fake OpenAI chat server that is as strict as the real one. */
export type OpenAiChatServer = StrictServer<ChatAnswer>

/** OpenAI's Chat Completions API. Its `url` is for `OPENAI_BASE_URL`, with or without `/v1`. */
export const startOpenAiChatServer = (...answers: readonly ChatAnswer[]): Promise<OpenAiChatServer> =>
  startStrictServer(chat, answers)

/** Creates the same API without a socket. */
export const createOpenAiChatApi = (): StrictApi<ChatAnswer> => createStrictApi(chat)

const chat: StrictApiDefinition<ChatAnswer, null> = {
  complaintAbout: ({ method, path, body }) =>
    firstComplaint(
      method === 'POST' && path === '/v1/chat/completions' ? null : `Invalid URL (${method} ${path})`,
      hasUnpairedSurrogate(body) ? unreadableBody : null,
      () => {
        const request = ChatRequest.safeParse(body)
        return request.success ? complaintAbout(request.data) : shapeComplaint(request.error)
      },
    ),
  errorBody: openAiError,
  events: (message, number) => [...chunksOf(message, number).map(toSse), { data: '[DONE]' }],
  streamError: ({ error, message }) => toSse({ error: { message, type: error, param: null, code: null } }),
  givenBy: () => null, // later requests need nothing of a completion unchanged
  givenInStream: () => null,
}

const toSse = (chunk: object) => ({ data: JSON.stringify(chunk) })
