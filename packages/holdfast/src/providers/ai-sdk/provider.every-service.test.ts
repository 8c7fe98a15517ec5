import type { ModelPart, Provider, SaidPart } from '@holdfast/core/ports'
import type { ModelName } from '@holdfast/protocol'
import { type AnyBlock, validateHistory } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServiceUnderTest, services } from './testing/services.ts'
import { createSessionLog } from './testing/session-log.ts'

type Story = ReturnType<typeof createSessionLog>
type Running = Awaited<ReturnType<ServiceUnderTest['start']>>
/** A model, and a way to script its answers. */
type Speaker = {
  readonly model: ModelName
  says(...blocks: readonly AnyBlock[]): Promise<readonly SaidPart[]>
  cut(events: number, ...blocks: readonly AnyBlock[]): Promise<void>
}

const think = (text: string, opaque = `opaque+/= ${text}`): AnyBlock => ({ type: 'think', text, opaque })
const say = (text: string, opaque = `sig ${text}`): AnyBlock => ({ type: 'say', text, opaque })
const call = (tool: string, args: object = { command: 'ls' }, opaque?: string): AnyBlock => ({
  type: 'call',
  tool,
  args: { ...args },
  ...(opaque !== undefined && { opaque }),
})

/** Histories that every service must accept. */
const stories: Readonly<Record<string, (story: Story, speaker: Speaker) => Promise<void>>> = {
  'a plain conversation': async (story, { says }) => {
    story.user('hi')
    await says(say('hello'))
    story.user('and?')
  },
  'rounds of parallel calls with thinking, with results in another order': async (story, { says }) => {
    story.user('go')
    await says(
      think('hm|so'),
      say('Look:'),
      call('shell', { command: 'ls' }, 'sig 1'),
      call('read_file', { path: 'é\u{1f600}' }),
    )
    story.settle()
    await says(think('more é\u{1f600} \n'), call('shell', { command: 'pwd' }, 'sig 2'))
    story.settle()
    await says(say('Done.'))
    story.user('thanks')
  },
  'the middle of a round': async (story, { says }) => {
    story.user('go')
    await says(think('hm'), call('shell', {}, 'sig 1'), call('shell', {}), call('shell', {}))
    story.settle()
  },
  'steering after the results': async (story, { says }) => {
    story.user('go')
    await says(call('shell', {}, 'sig 1'))
    story.settle()
    story.user('stop that')
    story.user('and this')
  },
  'an interrupted call, a denied call, and a call without output': async (story, { says }) => {
    story.user('go')
    await says(call('shell', {}, 'sig 1'))
    story.user('still there?')
    await says(call('shell', {}, 'sig 2'), call('shell', {}))
    story.settle((seq) =>
      seq % 2 === 0 ? { type: 'denied', code: 'rejected', message: 'no' } : { type: 'ok', output: { text: '' } },
    )
  },
  'cut answers': async (story, { cut }) => {
    for (let events = 1; events < 20; events++) {
      story.user('go')
      await cut(events, think(`thinking ${events}|for long`), say('I was about to'), call('shell', {}, `sig ${events}`))
      story.settle()
    }
  },
  'a cut answer without text': async (story, { cut }) => {
    story.user('go')
    await cut(6, say('I was about to say this and that'))
  },
  'answers with only thinking': async (story, { says }) => {
    story.user('go')
    await says(think('only'))
    story.user('well?')
    await says(say('ok'), think('after the fact'))
    story.user('so?')
  },
  'reasoning without text': async (story, { says }) => {
    story.user('go')
    await says(think('', 'opaque only'), call('shell', {}, 'sig 1'))
    story.settle()
  },
  'consecutive and blank user messages': async (story, { says }) => {
    story.user('a')
    story.user('b')
    story.user(' \n')
    await says(say('x'))
    story.user('')
  },
  'unpaired surrogates everywhere': async (story, { model }) => {
    story.user('a\ud800')
    story.says(
      model,
      { type: 'text', text: 'b\udc00' },
      { type: 'call', tool: 'shell', args: { 'k\ud800': ['\ud800'] } },
    )
    story.settle(() => ({ type: 'ok', output: { text: 'c\ud800' } }))
  },
  'empty text of the model': async (story, { model }) => {
    story.user('a')
    story.says(model, { type: 'text', text: ' ' })
    story.says(model, { type: 'text', text: '' }, { type: 'call', tool: 'shell', args: {} })
    story.settle()
  },
  'files of every kind, missing and empty ones': async (story) => {
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47])
    story.userSends(
      ...[
        'image/png',
        'image/jpeg',
        'image/gif',
        'image/webp',
        'application/pdf',
        'text/markdown',
        'application/json',
      ].map((type) => story.file(type, 'a file', bytes)),
      story.file('application/zip', 'a.zip', bytes),
      story.file('image/png', 'gone.png', null),
      story.file('image/png', 'empty.png', new Uint8Array()),
      story.file('text/plain', 'empty.txt', new Uint8Array()),
    )
  },
  'tools with invalid names': async (story, { model }) => {
    story.user('go')
    const names = ['no such tool!', '', 'x'.repeat(100), '3d', '-dash', 'mcp__ä.b']
    story.says(model, ...names.map((tool): SaidPart => ({ type: 'call', tool, args: {} })))
    story.settle()
  },
  'a history that begins with the model': async (story, { says }) => {
    await says(say('hello'))
    await says(call('shell', {}, 'sig 1'))
    story.settle()
  },
}

const outcomeOf = (parts: readonly ModelPart[]) => parts.flatMap((part) => (part.type === 'end' ? [part.end] : []))

async function collect(provider: Provider, request: Parameters<Provider['stream']>[0]) {
  const parts: ModelPart[] = []
  for await (const part of provider.stream(request, { signal: new AbortController().signal })) parts.push(part)
  return parts
}

describe.each(services.map((home) => [home.name, home] as const))('an answer of %s', (_name, home) => {
  const running = new Map<ServiceUnderTest, Running>()
  beforeEach(async () => {
    for (const service of services) running.set(service, await service.start())
  })
  afterEach(async () => {
    expect(at(home).requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
    for (const server of running.values()) await server.close()
  })
  const at = (service: ServiceUnderTest): Running => {
    const server = running.get(service)
    if (!server) throw new Error('it is not running')
    return server
  }

  function speakerFor(story: Story): Speaker {
    const server = at(home)
    const { model } = home
    const provider = home.provider(server.url)
    return {
      model,
      says: (...blocks) => {
        server.says({ blocks })
        return story.answer(provider, model)
      },
      cut: async (events, ...blocks) => {
        server.says({ blocks, after: { events, detour: { type: 'cut' } } })
        await story.answer(provider, model)
      },
    }
  }

  it.each(Object.entries(stories))('can be sent to every service: %s', async (_what, live) => {
    const story = createSessionLog()
    await live(story, speakerFor(story))
    for (const target of services) {
      const server = at(target)
      for (const model of [target.model, ...target.others]) {
        const request = story.request(model)
        expect(validateHistory(target.name, request)).toEqual([])
        server.says({ blocks: [say('ok')] })
        const ends = outcomeOf(await collect(target.provider(server.url, model), request))
        expect(server.requests.at(-1)?.complaint).toBeNull()
        expect(ends).toMatchObject([{ type: 'complete' }])
      }
    }
  })
})
