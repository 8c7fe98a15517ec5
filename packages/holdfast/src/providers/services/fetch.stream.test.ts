import { describe, expect, it } from 'vitest'
import { collectFailure, startFixedServer } from '../ai-sdk/testing/http-server.ts'
import { createModels } from '../models.ts'
import { requireStream } from './fetch.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }
const services = [
  ['anthropic/claude', 'ANTHROPIC'],
  ['openai/gpt-5', 'OPENAI'],
  ['openai-chat/gpt-5', 'OPENAI'],
  ['google/gemini', 'GEMINI'],
  ['groq/llama', 'GROQ'],
] as const

async function failureOf(model: string, variables: string, body: string, headers: { [name: string]: string } = json) {
  await using server = await startFixedServer(200, body, headers)
  const environment = { [`${variables}_API_KEY`]: 'a-made-up-key-0123456789', [`${variables}_BASE_URL`]: server.url }
  const found = createModels({ environment }).find(model)
  if (found.type !== 'ready') throw new Error(found.message)
  return (await collectFailure(found.provider)).end
}

describe.each(services)('a document instead of a stream of %s', (model, variables) => {
  it('is quoted if it is an error of the service, with the body in the detail', async () => {
    const error = { message: 'no such thing', type: 'invalid_request_error' }
    expect(await failureOf(model, variables, JSON.stringify({ error }))).toMatchObject({
      fault: {
        kind: 'passthrough',
        message: expect.stringContaining(': no such thing.'),
        detail: expect.stringContaining(JSON.stringify({ error })),
      },
      retryable: false,
    })
  })

  it('that is a rate limit is treated as one', async () => {
    const error = { message: 'slow down', code: 429 }
    expect(await failureOf(model, variables, `\n[${JSON.stringify({ error })}]`)).toMatchObject({
      fault: { kind: 'rate_limited' },
      retryable: true,
    })
  })

  it.each([
    ['{"hello":"world","message":"welcome"}', json],
    ['<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' }],
  ])('is a wrong address otherwise, with its beginning in the detail: %s', async (body, headers) => {
    expect(await failureOf(model, variables, `${body}${' '.repeat(200_000)}`, headers)).toMatchObject({
      fault: {
        kind: 'raw_dump',
        message: expect.stringContaining('is not the API of'),
        detail: expect.stringContaining(body),
      },
      retryable: false,
    })
  })
})

it('does not change a stream, even with the type JSON, or an error', async () => {
  for (const [body, init] of [
    ['  \n', { headers: json }],
    ['\ndata: {"a":1}\n\ndata: [DONE]\n\n', { headers: json }],
    ['data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } }],
    ['{"error":{}}', { headers: json, status: 400 }],
  ] as const)
    expect(await (await requireStream(new Response(body, init))).text()).toBe(body)
})
