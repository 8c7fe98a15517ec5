import type { AssistantPart, RequestMessage, UserPart } from '@holdfast/core/ports'
import { aRequest, userSays } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { guessDialect } from './dialect/choose-dialect.ts'
import { type FileBytes, toPrompt } from './prompt.ts'
import { createToolNames } from './tool-names.ts'

const prompt = (messages: readonly RequestMessage[], provider = 'anthropic.messages', system = '') =>
  toPrompt(aRequest({ messages, system }), {
    dialect: guessDialect({ provider }),
    modelId: 'model-1',
    takes: null,
    names: createToolNames([], guessDialect({ provider }).names.tools),
    filePart: (file: FileBytes) => ({ type: 'file' as const, ...file }),
    resultFilePart: (file: FileBytes) => ({ type: 'file' as const, ...file }),
  })
const assistant = (...content: readonly AssistantPart[]): RequestMessage => ({ role: 'assistant', content })
const user = (...content: readonly UserPart[]): RequestMessage => ({ role: 'user', content })
const signed = { anthropic: { signature: 'sig' } }

describe('prompt', () => {
  it('puts the system text first, or leaves it out if empty', () => {
    expect(prompt([userSays('hi')], 'anthropic.messages', 'Be brief.').map(({ role }) => role)).toEqual([
      'system',
      'user',
    ])
    expect(prompt([userSays('hi')]).map(({ role }) => role)).toEqual(['user'])
  })

  it('lists results in call order, and never an error without text', () => {
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
            output: { type: 'error-text', value: 'failed without a message' },
          },
        ],
      },
    ])
  })

  it('sends thinking to Anthropic only with a signature', () => {
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
    expect(prompt([message], 'own')[0]?.content).toHaveLength(3)
  })

  it('drops an answer with only thinking, which Anthropic refuses', () => {
    expect(
      prompt([userSays('a'), assistant({ type: 'thinking', text: 'hm', meta: signed }), userSays('b')]).map(
        ({ role }) => role,
      ),
    ).toEqual(['user'])
  })

  it('drops blank text and messages without other content', () => {
    expect(
      prompt([userSays('a'), assistant({ type: 'text', text: ' \n' }), userSays('b')]).map(({ role }) => role),
    ).toEqual(['user'])
  })

  it('sends metadata of calls back unchanged', () => {
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

  it('sends readable files, text files as plain text, and a note for the others', () => {
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

  it('drops blank user text and parts that a service refuses', () => {
    expect(prompt([user({ type: 'text', text: ' \n' }), userSays('hi')])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ])
    const thought: AssistantPart = { type: 'thinking', text: 'hm', meta: { openai: { itemId: 'rs_1' } } }
    const message = assistant({ type: 'text', text: 'So.' }, thought)
    expect(prompt([message], 'openai.chat')[0]?.content).toHaveLength(1)
    expect(prompt([message], 'openai.responses')[0]?.content).toHaveLength(1)
    expect(prompt([assistant(thought, { type: 'text', text: 'So.' })], 'openai.responses')[0]?.content).toHaveLength(2)
  })

  it('sends metadata back only to the model that wrote it, if required', () => {
    const answerOf = (model: string): RequestMessage => {
      const meta = { google: { thoughtSignature: 'x' }, holdfast: { model } }
      return assistant({ type: 'thinking', text: 'hm', meta }, { type: 'text', text: 'So.', meta })
    }
    const providerOptions = { google: { thoughtSignature: 'x' } }
    expect(prompt([answerOf('model-1')], 'google.generative-ai')[0]?.content).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions },
      { type: 'text', text: 'So.', providerOptions },
    ])
    expect(prompt([answerOf('model-2')], 'google.generative-ai')[0]?.content).toEqual([{ type: 'text', text: 'So.' }])
    expect(prompt([answerOf('model-2')], 'own')[0]?.content).toHaveLength(2)
  })

  it('inlines text files where needed, and notes files that are too large', () => {
    const file = (mediaType: string, bytes: Uint8Array): UserPart => ({ type: 'file', mediaType, name: 'f', bytes })
    const text = file('text/markdown', Buffer.from('# Hi'))
    expect(prompt([user(text)], 'openai.responses')[0]?.content).toEqual([
      { type: 'text', text: '[file f (text/markdown)]\n# Hi' },
    ])
    const large = file('image/png', new Uint8Array(4 * 1024 * 1024))
    expect(prompt([user(large)])[0]?.content).toMatchObject([{ type: 'text' }])
    expect(prompt([user(large)], 'openai.responses')[0]?.content).toMatchObject([{ type: 'file' }])
    const moving = file('image/gif', new Uint8Array(4))
    expect(prompt([user(moving)], 'google.generative-ai')[0]?.content).toMatchObject([{ type: 'text' }])
  })
})
