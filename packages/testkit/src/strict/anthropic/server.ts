import { firstComplaint, shapeComplaint } from '../first-complaint.ts'
import {
  type ApiRequest,
  createStrictDesk,
  type StrictDesk,
  type StrictServer,
  type StrictService,
  startStrictServer,
} from '../server.ts'
import { hasHalfCharacter } from '../unicode.ts'
import { type AnthropicAnswer, errorTypeOf, eventsOf, givenBy, type WireEvent } from './answer.ts'
import { complaintAbout, type GivenAnswer } from './rules.ts'
import { WireRequest } from './wire.ts'

export type AnthropicServer = StrictServer<AnthropicAnswer>

/** Anthropic's Messages API. Its `url` is for `ANTHROPIC_BASE_URL`. */
export const startAnthropicServer = (...answers: readonly AnthropicAnswer[]): Promise<AnthropicServer> =>
  startStrictServer(anthropic, answers)

/** The same without a socket. */
export const createAnthropicDesk = (): StrictDesk<AnthropicAnswer> => createStrictDesk(anthropic)

const anthropic: StrictService<AnthropicAnswer, GivenAnswer> = {
  complaintAbout: ({ method, path, body }: ApiRequest, given) =>
    firstComplaint(
      method === 'POST' && path === '/v1/messages' ? null : `there is no ${method} ${path}`,
      hasHalfCharacter(body) ? 'The request body is not valid JSON: no low surrogate in string' : null,
      () => {
        const request = WireRequest.safeParse(body)
        return request.success ? complaintAbout(request.data, given) : shapeComplaint(request.error)
      },
    ),
  errorBody: (status, message) => ({ type: 'error', error: { type: errorTypeOf(status), message } }),
  events: (message, number) => eventsOf(message, number).map(toSse),
  streamError: ({ error, message }) => toSse({ type: 'error', error: { type: error, message } }),
  givenBy,
}

const toSse = (event: WireEvent) => ({ event: event.type, data: JSON.stringify(event) })
