import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('palette.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')

const coloursOf = (part: string): ReadonlyMap<string, string> =>
  new Map([...part.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [name, hex]))

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

describe.each([
  ['light', coloursOf(light)],
  ['dark', coloursOf(dark)],
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

  it('has edges of fields that can be seen', () => {
    expect(weak(onSurfaces(['field-line']), 3)).toEqual([])
  })
})
