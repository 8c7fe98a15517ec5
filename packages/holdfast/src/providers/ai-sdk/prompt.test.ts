import type { AssistantPart, RequestMessage, UserPart } from '@holdfast/core/ports'
import { aRequest, userSays } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { type FileBytes, toPrompt } from './prompt.ts'

const prompt = (messages: readonly RequestMessage[], isAnthropic = true, system = '') =>
  toPrompt(aRequest({ messages, system }), {
    isAnthropic,
    filePart: (file: FileBytes) => ({ type: 'file' as const, ...file }),
  })
const assistant = (...content: readonly AssistantPart[]): RequestMessage => ({ role: 'assistant', content })
const user = (...content: readonly UserPart[]): RequestMessage => ({ role: 'user', content })
const signed = { anthropic: { signature: 'sig' } }

describe('prompt', () => {
  it('puts the system text first, and leaves it out when there is none', () => {
    expect(prompt([userSays('hi')], true, 'Be brief.').map(({ role }) => role)).toEqual(['system', 'user'])
    expect(prompt([userSays('hi')]).map(({ role }) => role)).toEqual(['user'])
  })

  it('gives results in call order, errors marked, and never an error without a word', () => {
    const results: RequestMessage = {
      role: 'tool',
      content: [
        { id: 'c1', tool: 'shell', text: 'ok', isError: false },
        { id: 'c2', tool: 'shell', text: 'no', isError: true },
        { id: 'c3', tool: 'shell', text: '', isError: true },
      ],
    }
    expect(prompt([results])).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'shell', output: { type: 'text', value: 'ok' } },
          { type: 'tool-result', toolCallId: 'c2', toolName: 'shell', output: { type: 'error-text', value: 'no' } },
          {
            type: 'tool-result',
            toolCallId: 'c3',
            toolName: 'shell',
            output: { type: 'error-text', value: 'failed without a word' },
          },
        ],
      },
    ])
  })

  it('sends thinking to Anthropic only with its signature, and to others as it is', () => {
    const message = assistant(
      { type: 'thinking', text: 'cut', meta: { other: {} } },
      { type: 'thinking', text: 'whole', meta: signed },
      { type: 'text', text: 'So.' },
    )
    expect(prompt([message])).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'whole', providerOptions: signed },
          { type: 'text', text: 'So.' },
        ],
      },
    ])
    expect(prompt([message], false)[0]?.content).toHaveLength(3)
  })

  it('leaves out an answer of nothing but thinking, which Anthropic would refuse', () => {
    expect(
      prompt([userSays('a'), assistant({ type: 'thinking', text: 'hm', meta: signed }), userSays('b')]).map(
        ({ role }) => role,
      ),
    ).toEqual(['user', 'user'])
  })

  it('leaves out blank text, and the message that held nothing else', () => {
    expect(
      prompt([userSays('a'), assistant({ type: 'text', text: ' \n' }), userSays('b')]).map(({ role }) => role),
    ).toEqual(['user', 'user'])
  })

  it('gives metadata of calls back as it came', () => {
    const call: AssistantPart = {
      type: 'call',
      id: 'c1',
      tool: 'shell',
      args: { a: 1 },
      meta: { google: { thoughtSignature: 'x' } },
    }
    expect(prompt([assistant(call)])).toEqual([
      {
        role: 'assistant',
        content: [
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'shell',
            input: { a: 1 },
            providerOptions: { google: { thoughtSignature: 'x' } },
          },
        ],
      },
    ])
  })

  it('sends files that models read, text of every kind as plain text, and a word in place of the rest', () => {
    const bytes = new Uint8Array([1, 2])
    const files = ['image/png', 'text/markdown', 'application/zip'].map((mediaType) => ({
      type: 'file' as const,
      mediaType,
      name: 'f',
      bytes,
    }))
    expect(prompt([user(...files)])[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/png', name: 'f', bytes },
      { type: 'file', mediaType: 'text/plain', name: 'f', bytes },
      { type: 'text', text: '[file f (application/zip) cannot be shown to you]' },
    ])
  })
})
