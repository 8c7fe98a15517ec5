import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8')

/** Reads the colours of code, which are pairs: for light, and for dark. */
const codeColours = [...css.matchAll(/--(code-\w+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);/g)]

/** Reads the colours for one of the two lights. */
const coloursOf = (light: 'light' | 'dark'): ReadonlyMap<string, string> =>
  new Map(
    [...css.matchAll(/--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);/g)].map(
      ([, name = '', ofLight = '', ofDark = '']) => [name, light === 'light' ? ofLight : ofDark],
    ),
  )

/** The relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

const surfaces = ['ground', 'panel', 'raised', 'sunken']
const texts = ['ink', 'ink-2', 'ink-3', 'accent', 'ask', 'bad', 'good']
/** Texts on the colour of a button, a note or a line of a diff. */
const onColours: readonly (readonly [string, string])[] = [
  ['accent-ink', 'accent'],
  ...['ink', 'ink-2', 'accent'].map((text) => [text, 'accent-soft'] as const),
  ...['ink', 'ink-2', 'ask'].map((text) => [text, 'ask-soft'] as const),
  ...['ink', 'ink-2', 'bad'].map((text) => [text, 'bad-soft'] as const),
  ...['added', 'removed', 'added-word', 'removed-word'].map((line) => ['ink', line] as const),
]

const codeOf = (light: 2 | 3): ReadonlyMap<string, string> =>
  new Map(codeColours.map((found) => [found[1] ?? '', found[light] ?? '']))

describe.each([
  ['light', new Map([...coloursOf('light'), ...codeOf(2)])],
  ['dark', new Map([...coloursOf('dark'), ...codeOf(3)])],
])('the %s palette', (_, colours) => {
  const weak = (pairs: readonly (readonly [string, string])[], least: number) =>
    pairs.flatMap(([one, other]) => {
      const ratio = contrast(colours.get(one) ?? '', colours.get(other) ?? '')
      return ratio >= least ? [] : [`${one} on ${other}: ${ratio.toFixed(2)}`]
    })
  const onSurfaces = (names: readonly string[]) =>
    names.flatMap((name) => surfaces.map((surface) => [name, surface] as const))

  it('has texts that can be read on what is behind them', () => {
    expect(weak([...onSurfaces(texts), ...onColours], 4.5)).toEqual([])
  })

  it('has colours of code that can be read, also in a line of a diff', () => {
    const names = codeColours.map(([, name = '']) => name)
    expect(names).toHaveLength(8)
    const inDiffs = names.flatMap((name) => [[name, 'added'] as const, [name, 'removed'] as const])
    expect(weak([...onSurfaces(names), ...inDiffs], 4.5)).toEqual([])
  })

  it('has edges of fields that can be seen', () => {
    expect(weak(onSurfaces(['field-line']), 3)).toEqual([])
  })
})

/** Set by scripts: by Base UI, and by the diff. */
const given = /^--(available-height|anchor-width|transform-origin|digits|line-of-part)$/

/** Every style sheet but that of the tokens. */
const sheets = globSync(`${import.meta.dirname}/../**/*.css`).filter((path) => basename(path) !== 'tokens.css')

describe('the other style sheets', () => {
  it('name no colour: those are tokens', () => {
    const named = sheets.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/g)].map(
        ([colour]) => `${basename(path)}: ${colour}`,
      ),
    )
    expect(named).toEqual([])
  })

  it('have sizes of text from the tokens; 16px keeps a phone from zooming in on a field', () => {
    const other = sheets.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/font-size: (?!16px)[\d.]+px/g)].map(
        ([size]) => `${basename(path)}: ${size}`,
      ),
    )
    expect(other).toEqual([])
  })

  it('have gaps and round corners from the tokens', () => {
    const other = sheets.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^\s+(?:(?:row-|column-)?gap|border-radius): \d+px;/gm)].map(
        ([size]) => `${basename(path)}: ${size.trim()}`,
      ),
    )
    expect(other).toEqual([])
  })

  it('use no token that is not defined', () => {
    const defined = new Set([...css.matchAll(/(--[\w-]+):/g)].map(([, name]) => name))
    const used = sheets.flatMap((path) => {
      const sheet = readFileSync(path, 'utf8')
      const own = new Set([...sheet.matchAll(/(--[\w-]+):/g)].map(([, name]) => name))
      return [...sheet.matchAll(/var\((--[\w-]+)\)/g)].flatMap(([, name]) => (own.has(name) ? [] : [name]))
    })
    expect([...new Set(used)].filter((name) => !defined.has(name) && !given.test(name ?? ''))).toEqual([])
  })

  it('move nothing for longer than 160 ms, besides the breath of what runs', () => {
    const long = sheets.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/(?:transition|animation)[^;{}]*?\b([\d.]+)(m?s)\b/g)]
        .filter(([, time, unit]) => Number(time) * (unit === 's' ? 1000 : 1) > 160)
        .map(([text]) => `${basename(path)}: ${text}`),
    )
    expect(long).toEqual([])
  })

  it('stop all motion for people who asked for that', () => {
    const base = readFileSync(new URL('base.css', import.meta.url), 'utf8')
    expect(base).toMatch(/prefers-reduced-motion: reduce\)[\s\S]*animation-duration: 0s[\s\S]*transition-duration: 0s/)
  })
})
