import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as client from '@holdfast/client'
import { fault, HoldfastError } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { published, publishedEntries } from '../../scripts/published.ts'
import { emitDeclarations, exportsOf, nameOf, type PublicName, pathsTo, typesIn } from './public-types.ts'

const root = resolve(import.meta.dirname, '../..')
let folder = ''
const out = () => join(folder, 'out')
const declarationsOf = (source: string) => join(out(), source.replace('packages/', '').replace(/\.ts$/, '.d.ts'))
const entry = () => declarationsOf('packages/holdfast/src/entry/index.ts')
const idOf = ({ file, original }: PublicName) => `${file} ${original}`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-types-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  emitDeclarations(out())
}, 240_000) // the compiler takes a minute on a busy machine
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The arguments of the types that need some. */
const typeArguments: Readonly<Record<string, string>> = {
  FrameOf: "'end'",
  Result: 'string',
  ToolDefinition: 'JsonSchema',
  ArgumentsOf: 'JsonSchema',
  FromJsonSchema: 'JsonSchema',
  FromProperties: 'object, string',
  FromTypeName: 'object, string',
  StandardResult: 'string',
}

/** Parts of the runtime that a program only passes on: it never has to name them. */
const passedOn = new Set([
  ...['SqliteStore', 'WriterOptions', 'JsonlStoreOptions', 'MirrorOptions'], // what `openHoldfast({ store })` opens itself
  ...['SessionRegistry', 'SessionState', 'Input'], // what the test runtime and the fixtures return
])

describe('the types of the library', () => {
  // A type of one entry may be imported from another entry of the same package.
  it.each(published)('are exported by $folder, if a public signature names them', (one) => {
    const names = publishedEntries(one).flatMap(({ specifier, source }) =>
      exportsOf(out(), declarationsOf(source)).map((name) => ({ ...name, specifier })),
    )
    const isExported = new Set(names.map(idOf))
    const missing = names.flatMap((name) =>
      typesIn(out(), name).flatMap((type) =>
        isExported.has(idOf(type)) || passedOn.has(type.name)
          ? []
          : [`${nameOf(out(), type)}, in ${name.name} of ${name.specifier}`],
      ),
    )
    expect([...new Set(missing)].sort()).toEqual([])
    expect(names.length).toBeGreaterThan(100)
  })

  it.each([
    ['holdfast', entry],
    ['@holdfast/client', () => declarationsOf('packages/client/src/index.ts')],
  ])('are all exported by %s itself, if a signature of it names them', (_, of) => {
    const names = exportsOf(out(), of())
    const isExported = new Set(names.map(idOf))
    const missing = names.flatMap((name) =>
      typesIn(out(), name).filter((type) => !isExported.has(idOf(type)) && !passedOn.has(type.name)),
    )
    expect([...new Set(missing.map(({ name }) => name))].sort()).toEqual([])
    expect(names.length).toBeGreaterThan(100)
  })

  it('of a program in a browser come with the class of its errors', () => {
    expect(new HoldfastError(fault('bad_request', 'No.'))).toBeInstanceOf(client.HoldfastError)
    expect(Object.keys(client)).not.toEqual(expect.arrayContaining(['createHoldfastMethods']))
  })

  it('can all be named by a program with declarations and strict flags', () => {
    const isType = ({ original, file }: PublicName) =>
      new RegExp(`(type|interface) ${original}\\b`).test(readFileSync(file, 'utf8'))
    const types = [
      ...new Set(
        exportsOf(out(), entry())
          .filter(isType)
          .map(({ name }) => name),
      ),
    ]
    const list = types.map((name) => (typeArguments[name] ? `${name}<${typeArguments[name]}>` : name))
    const program = `
      import { openHoldfast, type ${types.join(', type ')} } from 'holdfast'
      export type All = [${list.join(', ')}]
      export const holdfast = await openHoldfast({ store: 'memory:' })
      export const session = await holdfast.startSession()
      export const turn = session.prompt('hello')
      export const { search, list, fork, models, subscribe } = holdfast
      export const { sendPrompt, rewind, compact, cycleModel, usage, messages } = session
      export const result = await turn.result()
    `
    writeFileSync(join(folder, 'program.ts'), program)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2024',
      lib: ['esnext'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      declaration: true,
      outDir: join(folder, 'built'),
      rootDir: folder,
      paths: pathsTo(out()),
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    expect(spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout).toBe('')
    const declarations = readFileSync(join(folder, 'built/program.d.ts'), 'utf8')
    expect(declarations).toContain('export declare const turn: Turn')
  })
})
