import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => vi.unstubAllGlobals())

it('makes no pattern of Unicode classes before a text needs it', async () => {
  vi.resetModules()
  const made: string[] = []
  vi.stubGlobal(
    'RegExp',
    new Proxy(RegExp, {
      construct(target, args: [string, string?]) {
        made.push(String(args[0]))
        return new target(...args)
      },
    }),
  )
  const { splitWords } = await import('./words.ts')
  expect(made).toEqual([])
  expect(splitWords('naïve 漢字 user_name')).toEqual(['naïve', '漢', '字', 'user_name'])
  expect(splitWords('été')).toEqual(['été'])
  expect(made).toHaveLength(1)
})
