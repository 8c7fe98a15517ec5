import { describe, expect, it } from 'vitest'
import { lazySource, loadEarly, loadingOf, mayReload } from './lazy-part.tsx'
import { loadOnce } from './use-loaded.ts'

const part = () => null

describe('the parts of the page that are loaded later', () => {
  it('are loaded before a person asks for them, until one fails', async () => {
    const [first, broken, last] = [
      lazySource(async () => part),
      lazySource(() => Promise.reject(new Error('the server is away'))),
      lazySource(async () => part),
    ]
    await loadEarly([loadingOf(first), loadingOf(broken), loadingOf(last)], () => false)
    expect([first.Part, broken.Part, last.Part]).toEqual([part, null, null])
  })

  it('are not loaded once the page has lost its connection', async () => {
    const source = lazySource(async () => part)
    await loadEarly([loadingOf(source)], () => true)
    expect(source.Part).toBe(null)
  })

  it('make the page reload at most once in a minute', () => {
    const kept = new Map<string, string>()
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    }
    expect(mayReload(storage, 1_000_000)).toBe(true)
    expect(mayReload(storage, 1_059_999)).toBe(false)
    expect(mayReload(storage, 1_060_000)).toBe(true)
  })
})

describe('a library that is loaded once', () => {
  it('is loaded again after a load that failed, and then never more', async () => {
    let loads = 0
    const load = loadOnce(async () => {
      loads += 1
      if (loads === 1) throw new Error('the server is away')
      return loads
    })
    await expect(load()).rejects.toThrow('away')
    expect(await load()).toBe(2)
    expect(await load()).toBe(2)
  })
})
