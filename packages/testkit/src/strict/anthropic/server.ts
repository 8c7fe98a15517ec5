import { firstComplaint, hasUnpairedSurrogate, shapeComplaint } from '../base/complaints.ts'
import {
  type ApiRequest,
  createStrictApi,
  type StrictApi,
  type StrictApiDefinition,
  type StrictServer,
  startStrictServer,
} from '../base/server.ts'
import { type AnthropicAnswer, type AnthropicEvent, errorTypeOf, eventsOf, givenBy, givenInStream } from './answer.ts'
import { createPromptCache, marksComplaint } from './prompt-cache.ts'
import { complaintAbout, type GivenAnswer } from './rules.ts'
import { AnthropicRequest } from './wire.ts'

/** A fake Anthropic server that is as strict as the real one. */
export type AnthropicServer = StrictServer<AnthropicAnswer>

/** Anthropic's Messages API. Its `url` is for `ANTHROPIC_BASE_URL`. */
export const startAnthropicServer = (...answers: readonly AnthropicAnswer[]): Promise<AnthropicServer> =>
  startStrictServer(createAnthropicService(), answers)

/** Creates the same API without a socket. */
export const createAnthropicApi = (): StrictApi<AnthropicAnswer> => createStrictApi(createAnthropicService())

function createAnthropicService(): StrictApiDefinition<AnthropicAnswer, GivenAnswer> {
  const cache = createPromptCache()
  return {
    ...anthropic,
    // Cache usage that the script does not give is computed.
    events: (message, number, { body }) =>
      eventsOf({ ...message, usage: { ...cache.take(body), ...message.usage } }, number).map(toSse),
  }
}

const anthropic: Omit<StrictApiDefinition<AnthropicAnswer, GivenAnswer>, 'events'> = {
  complaintAbout: ({ method, path, body }: ApiRequest, given) =>
    firstComplaint(
      method === 'POST' && path === '/v1/messages' ? null : `there is no ${method} ${path}`,
      hasUnpairedSurrogate(body) ? 'The request body is not valid JSON: no low surrogate in string' : null,
      () => marksComplaint(body),
      () => {
        const request = AnthropicRequest.safeParse(body)
        return request.success ? complaintAbout(request.data, given) : shapeComplaint(request.error)
      },
    ),
  errorBody: (status, message) => ({ type: 'error', error: { type: errorTypeOf(status), message } }),
  streamError: ({ error, message }) => toSse({ type: 'error', error: { type: error, message } }),
  givenBy,
  givenInStream,
}

const toSse = (event: AnthropicEvent) => ({ event: event.type, data: JSON.stringify(event) })
