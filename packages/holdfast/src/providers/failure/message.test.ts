import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { keyMark } from '../../system/secrets/known-keys.ts'
import { errorKinds, type FailureCause } from './cause.ts'
import { describeFailure } from './message.ts'

const statuses: Partial<Record<FailureCause, number>> = {
  rejected_key: 401,
  no_access: 403,
  blocked: 403,
  no_credit: 402,
  limited: 429,
  overloaded: 529,
  unknown_model: 404,
  wrong_address: 404,
  too_long: 400,
  refused_request: 400,
  service_error: 500,
  unclear: 502,
}

const sentence = (cause: FailureCause, words = "<the provider's message>.") =>
  describeFailure({
    cause,
    details: {
      status: statuses[cause],
      names: new Set(),
      field: 'input[3]',
      words,
      retryDelay: undefined,
      headers: {},
      url: 'https://api.openai.com/v1/responses',
      body: '',
    },
    waitMs: cause === 'limited' ? 7_000 : null,
    service: { title: 'OpenAI', modelId: 'gpt-9', keyName: 'OPENAI_API_KEY' },
  }).join(' ')

// It has the same message as wrong_address.
const cases = (Object.keys(errorKinds) as FailureCause[]).filter((one) => one !== 'no_http')

describe('the message', () => {
  it.each(cases)('for %s is in the docs', async (cause) => {
    const docs = await readFile(new URL('../../../../../docs/model-errors.md', import.meta.url), 'utf8')
    expect(docs.replaceAll('\\<', '<')).toContain(`| ${sentence(cause)} |`) // Markdown would read < as a tag
  })

  it.each(cases)('for %s is one line and ends with the next step', (cause) => {
    expect(sentence(cause)).toMatch(/^[A-Z][^\n]*\. [A-Z][^\n]*(continue\.|try again[^.]*\.|resume it\.)$/)
  })

  it('contains no key and no control character', () => {
    const text = sentence('refused_request', 'You sent sk-made-0001 \u001b[31mred\nand more')
    expect(text).toContain(`You sent ${keyMark} `)
    expect(text).not.toMatch(/\u001b|\n|and more/)
  })
})
