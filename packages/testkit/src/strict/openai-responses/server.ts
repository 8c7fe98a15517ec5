import { firstComplaint, hasUnpairedSurrogate, shapeComplaint } from '../base/complaints.ts'
import { openAiError, unreadableBody } from '../base/openai.ts'
import {
  createStrictApi,
  type StrictApi,
  type StrictApiDefinition,
  type StrictServer,
  startStrictServer,
} from '../base/server.ts'
import { eventsOf, givenBy, givenInStream, type ResponsesAnswer, type ResponsesEvent } from './answer.ts'
import { complaintAbout, type GivenItem } from './rules.ts'
import { ResponsesRequest } from './wire.ts'

/** A fake OpenAI responses server that is as strict as the real one. */
export type OpenAiResponsesServer = StrictServer<ResponsesAnswer>

/** OpenAI's Responses API without stored state. Its `url` is for `OPENAI_BASE_URL`, with or without `/v1`. */
export const startOpenAiResponsesServer = (...answers: readonly ResponsesAnswer[]): Promise<OpenAiResponsesServer> =>
  startStrictServer(responses, answers)

/** Creates the same API without a socket. */
export const createOpenAiResponsesApi = (): StrictApi<ResponsesAnswer> => createStrictApi(responses)

const responses: StrictApiDefinition<ResponsesAnswer, readonly GivenItem[]> = {
  complaintAbout: ({ method, path, body }, given) =>
    firstComplaint(
      method === 'POST' && path === '/v1/responses' ? null : `Invalid URL (${method} ${path})`,
      hasUnpairedSurrogate(body) ? unreadableBody : null,
      () => {
        const request = ResponsesRequest.safeParse(body)
        return request.success ? complaintAbout(request.data, given.flat()) : shapeComplaint(request.error)
      },
    ),
  errorBody: openAiError,
  events: (message, number) => eventsOf(message, number).map(toSse),
  streamError: ({ error, message }) => toSse({ type: 'error', sequence_number: 0, code: error, message, param: null }),
  givenBy,
  givenInStream,
}

const toSse = (event: ResponsesEvent) => ({ event: event.type, data: JSON.stringify(event) })
