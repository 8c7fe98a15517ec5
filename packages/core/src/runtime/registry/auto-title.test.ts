import { orThrow } from '@holdfast/protocol'
import {
  createGate,
  fail,
  isRecord,
  overload,
  say,
  scriptedUsage,
  type TestRuntimeOptions,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { stillness } from '../../testing/let-waits-pass.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'

type Script = NonNullable<TestRuntimeOptions['script']>

/** Answers turns at once, and title requests as the test says. */
const naming =
  (title: ReturnType<Extract<Script, (...args: never) => unknown>>): Script =>
  (request, index) =>
    request.purpose === 'summary' ? title : [say(`answer ${index}`)]

async function open(options: Partial<TestRuntimeOptions>) {
  const runtime = await openMemoryRuntime({ titleModel: 'sim/model', ...options })
  const titled = async () => (await runtime.store.entry(runtime.handle.id))?.entry.meta.title
  const asked = () => runtime.model.requests.filter(({ purpose }) => purpose === 'summary')
  return { runtime, talk: talkTo(runtime.handle), titled, asked }
}

describe('a session without a title', () => {
  it('is named by a model once, after its first turn', async () => {
    const { runtime, talk, titled, asked } = await open({ script: naming([say('"The harbour."\nIndeed.')]) })
    const named = runtime.frame(isRecord('settings.changed'))
    await talk.ask('tell me of the harbour')
    expect(await named).toMatchObject({
      record: {
        event: { type: 'settings.changed', title: 'The harbour', named: { model: 'sim/model', usage: scriptedUsage } },
      },
    })
    await talk.ask('and the sea?')
    expect(await titled()).toBe('The harbour')
    expect(asked()).toHaveLength(1)
    expect(JSON.stringify(asked()[0])).toContain('tell me of the harbour')
    expect(orThrow(await runtime.handle.snapshot()).meta.usage.input).toBe(scriptedUsage.input * 3)
  })

  it('is listed by its first line until then, and permanently if the model fails or returns no text', async () => {
    for (const answer of [[fail()], [say(' ')]]) {
      const { talk, titled, asked, runtime } = await open({ script: naming(answer) })
      await talk.ask('tell me of the harbour')
      await talk.ask('and the sea?')
      await runtime.registry.close()
      expect(asked()).toHaveLength(1)
      expect(await titled()).toBe('tell me of the harbour')
    }
  })

  it('is named by a later retry if the model fails at first, and reports no problem', async () => {
    let tries = 0
    const { runtime, talk, titled } = await open({
      script: ({ purpose }) => {
        if (purpose !== 'summary') return [say('answer')]
        return ++tries < 3 ? [overload(6000)] : [say('The harbour')]
      },
    })
    const named = runtime.frame(isRecord('settings.changed'))
    await talk.ask('tell me of the harbour')
    for (const wait of [6000, 6000]) {
      while (tries === 0 || runtime.clock.nextMs() !== wait) await stillness()
      runtime.clock.advance(wait)
    }
    await named
    expect(await titled()).toBe('The harbour')
    expect(await runtime.events()).not.toContain('note.added')
  })

  it('keeps the title that a person sets, before or after the model', async () => {
    const gate = createGate()
    const { runtime, talk, titled } = await open({ script: naming([waitAt(gate), say('The harbour')]) })
    await talk.ask('tell me')
    await talk.send({ type: 'rename', title: 'Mine' })
    gate.open()
    await talk.ask('and?')
    await runtime.registry.close()
    expect(await titled()).toBe('Mine')

    const other = await open({ script: naming([say('The harbour')]) })
    const named = other.runtime.frame(isRecord('settings.changed'))
    await other.talk.ask('tell me')
    await named
    await other.talk.send({ type: 'rename', title: 'Mine after all' })
    await other.talk.ask('and?')
    expect(await other.titled()).toBe('Mine after all')
    expect(other.asked()).toHaveLength(1)
  })
})

describe('no model is asked for a title', () => {
  it('of a session that a person named, or where no such model is set', async () => {
    for (const options of [{ start: { title: 'Mine' } }, { titleModel: undefined }] as Partial<TestRuntimeOptions>[]) {
      const { talk, asked, runtime } = await open({ ...options, script: naming([say('The harbour')]) })
      await talk.ask('tell me')
      await talk.ask('and?')
      await runtime.registry.close()
      expect(asked()).toEqual([])
    }
  })

  it('when its process ends: the running request is aborted', async () => {
    const { runtime, talk, titled } = await open({ script: naming([waitAt(createGate()), say('The harbour')]) })
    await talk.ask('tell me of the harbour')
    await runtime.registry.close()
    expect(await titled()).toBe('tell me of the harbour')
  })
})
