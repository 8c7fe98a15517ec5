import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emitDeclarations, exportsOf, nameOf, type PublicName, pathsTo, typesIn } from './public-types.ts'

const root = resolve(import.meta.dirname, '../..')
let folder = ''
const out = () => join(folder, 'out')
const entry = () => join(out(), 'holdfast/src/entry/index.d.ts')

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-types-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  emitDeclarations(out())
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The arguments of the types that need some. */
const typeArguments: Readonly<Record<string, string>> = {
  ...{ FrameOf: "'end'", Result: 'string', ToolDefinition: 'JsonSchema', ArgumentsOf: 'JsonSchema' },
  ...{ FromJsonSchema: 'JsonSchema', FromProperties: 'object, string', StandardResult: 'string' },
}

describe('the types of the library', () => {
  it('are exported by holdfast, if a public signature names them', () => {
    const idOf = ({ file, original }: PublicName) => `${file} ${original}`
    const names = exportsOf(out(), entry())
    const isExported = new Set(names.map(idOf))
    const missing = names.flatMap((one) =>
      typesIn(out(), one).flatMap((type) =>
        isExported.has(idOf(type)) ? [] : [`${nameOf(out(), type)}, in ${one.name}`],
      ),
    )
    expect([...new Set(missing)].sort()).toEqual([])
    expect(names.length).toBeGreaterThan(100)
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
      ...{ module: 'nodenext', target: 'es2024', lib: ['esnext'], types: ['node'] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: true },
      ...{ noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true, isolatedModules: true },
      ...{ declaration: true, outDir: join(folder, 'built'), rootDir: folder },
      paths: pathsTo(out()),
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    expect(spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout).toBe('')
    const declarations = readFileSync(join(folder, 'built/program.d.ts'), 'utf8')
    expect(declarations).toContain('export declare const turn: Turn')
  })
})
