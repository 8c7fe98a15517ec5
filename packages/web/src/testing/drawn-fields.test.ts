import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { drawnFields } from './drawn-fields.ts'

const rows = Object.entries(drawnFields).flatMap(([what, fields]) =>
  Object.entries(fields).flatMap(([field, drawn]) =>
    typeof drawn === 'string' ? [[`${what}.${field}`, drawn, field] as const] : [],
  ),
)

it.each(rows)('draws %s in %s', (_, path, field) => {
  const source = readFileSync(resolve(import.meta.dirname, '..', path), 'utf8')
  expect(source).toMatch(new RegExp(`\\b${field}\\b`))
})
