import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLibrary } from '../../scripts/reference/library.ts'
import { renderReference } from '../../scripts/reference/page.ts'

const folder = resolve(import.meta.dirname, '../../docs/reference')
const library = readLibrary()

describe('docs/reference', () => {
  it('matches the types and their comments (run npm run reference after a change)', () => {
    const pages = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')])
    expect(Object.fromEntries(pages)).toEqual(Object.fromEntries(renderReference(library)))
  })

  // A type on one line is explained by its own comment, and a member of another public type there.
  it('has a comment on every public name, and on every method and field of a public type', () => {
    const missing = library.flatMap(({ specifier, names }) =>
      names.flatMap(({ name, comment, members }) => [
        ...(comment === '' ? [`${specifier}: ${name}`] : []),
        ...members
          .filter((one) => one.comment === '' && one.from === null && !one.isBrief)
          .map((one) => `${specifier}: ${name}.${one.name}`),
      ]),
    )
    expect(missing).toEqual([])
    expect(library.flatMap(({ names }) => names).length).toBeGreaterThan(400)
  })
})
