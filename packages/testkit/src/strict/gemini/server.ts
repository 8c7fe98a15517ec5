import { firstComplaint, hasUnpairedSurrogate, shapeComplaint } from '../base/complaints.ts'
import {
  createStrictApi,
  type StrictApi,
  type StrictApiDefinition,
  type StrictServer,
  startStrictServer,
} from '../base/server.ts'
import { chunksOf, type GeminiAnswer, givenBy, givenInStream } from './answer.ts'
import { complaintAbout, type GivenSignature } from './rules.ts'
import { GeminiRequest } from './wire.ts'

/** A fake Gemini server that is as strict as the real one. */
export type GeminiServer = StrictServer<GeminiAnswer>

/** Gemini's API. Its `url` is for `GOOGLE_GENERATIVE_AI_BASE_URL`, with or without `/v1beta`. */
export const startGeminiServer = (...answers: readonly GeminiAnswer[]): Promise<GeminiServer> =>
  startStrictServer(gemini, answers)

/** Creates the same API without a socket. */
export const createGeminiApi = (): StrictApi<GeminiAnswer> => createStrictApi(gemini)

const pathPattern = /^\/v1beta\/models\/([^/:]+):streamGenerateContent\?alt=sse$/
const modelIn = (path: string): string | null => pathPattern.exec(path)?.[1] ?? null

const gemini: StrictApiDefinition<GeminiAnswer, readonly GivenSignature[]> = {
  complaintAbout: ({ method, path, body }, given) => {
    const model = modelIn(path)
    if (method !== 'POST' || model === null) return `there is no ${method} ${path}`
    return firstComplaint(
      hasUnpairedSurrogate(body) ? 'Invalid JSON payload received. Unexpected end of string.' : null,
      () => {
        const request = GeminiRequest.safeParse(body)
        return request.success ? complaintAbout(request.data, model, given.flat()) : shapeComplaint(request.error)
      },
    )
  },
  errorBody: (status, message) => ({ error: { code: status, message, status: statusNames[status] ?? 'INTERNAL' } }),
  events: (message, number, { path }) => chunksOf(message, number, modelIn(path) ?? '').map(toSse),
  streamError: ({ error, message }) => toSse({ error: { code: 500, message, status: error } }),
  givenBy,
  givenInStream,
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

const toSse = (chunk: object) => ({ data: JSON.stringify(chunk) })
