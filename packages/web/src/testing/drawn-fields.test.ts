import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drawnFields } from './drawn-fields.ts'
import { readsField } from './reads-field.ts'

const rows = Object.entries(drawnFields).flatMap(([what, fields]) =>
  Object.entries(fields).flatMap(([field, drawn]) =>
    typeof drawn === 'string' ? [[`${what}.${field}`, drawn, field] as const] : [],
  ),
)

it.each(rows)('reads %s in %s', (_, path, field) => {
  const source = readFileSync(resolve(import.meta.dirname, '..', path), 'utf8')
  expect(readsField(source, field)).toBe(true)
})

describe('a file', () => {
  it.each([
    'const a = view.pins.length',
    'const a = view?.pins',
    'const { pins, todos } = view',
    'const a = ({ pins }: View) => pins',
    'function draw({ view: { pins } }: Props) {}',
    'useLive(({ pins }) => pins)',
  ])('reads a field: %s', (source) => {
    expect(readsField(source, 'pins')).toBe(true)
  })

  it.each([
    '// draws view.pins',
    '/** the pins */ const a = 1',
    "const a = 'view.pins'",
    'type Props = { readonly pins: number }',
    "import { pins } from './pins.ts'",
    'const pins = 1',
    'send({ pins: [] })',
  ])('only names it: %s', (source) => {
    expect(readsField(source, 'pins')).toBe(false)
  })
})
