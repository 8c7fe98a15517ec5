import { limits, StepId } from '@holdfast/protocol'
import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Draft } from '../../ports/store/draft.ts'
import { createDraftAutosave } from './call-model.ts'

const draftOf = (text: string): Draft => ({ step: StepId.parse(4), parts: [{ type: 'text', text }] })

function openKeeper(save: (draft: Draft) => Promise<unknown> = async () => undefined) {
  const clock = createVirtualClock()
  const saved: Draft[] = []
  let text = ''
  const keeper = createDraftAutosave(
    clock,
    () => draftOf(text),
    (draft) => {
      saved.push(draft)
      return save(draft)
    },
  )
  const say = (words: string) => {
    text += words
    keeper.touch()
  }
  return { clock, saved, keeper, say }
}
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve))

describe('the draft of a running answer', () => {
  it('is saved within a second of the first fragment, with all later ones', () => {
    const { clock, saved, say } = openKeeper()
    say('Hel')
    clock.advance(limits.draftSaveMs - 1)
    say('lo')
    expect(saved).toEqual([])
    clock.advance(1)
    expect(saved).toEqual([draftOf('Hello')])
  })

  it('is saved at most once a second, however fast fragments arrive', async () => {
    const { clock, saved, say } = openKeeper()
    for (let word = 0; word < 100; word++) {
      say('word ')
      clock.advance(50)
      await settle()
    }
    expect(saved.length).toBeLessThanOrEqual(5)
    expect(saved.length).toBeGreaterThanOrEqual(4)
  })

  it('is not saved while nothing arrives', async () => {
    const { clock, saved, say } = openKeeper()
    say('once')
    clock.advance(limits.draftSaveMs)
    await settle()
    clock.advance(10 * limits.draftSaveMs)
    expect(saved).toHaveLength(1)
  })

  it('that could not be saved is saved with the next fragment', async () => {
    const { clock, saved, say } = openKeeper(() => Promise.reject(new Error('disk full')))
    say('a')
    clock.advance(limits.draftSaveMs)
    await settle()
    say('b')
    clock.advance(limits.draftSaveMs)
    expect(saved).toEqual([draftOf('a'), draftOf('ab')])
  })

  it('is not saved once the answer is over', () => {
    const { clock, saved, keeper, say } = openKeeper()
    say('a')
    keeper.stop()
    say('b')
    clock.advance(10 * limits.draftSaveMs)
    expect(saved).toEqual([])
  })
})
