import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Writes the declarations of all packages into `outDir`, as they are published. */
export function emitDeclarations(outDir: string): void {
  const options = ['-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--noCheck', '--outDir', outDir]
  execFileSync(join(root, 'node_modules/.bin/tsc'), options, { cwd: root, stdio: 'pipe' })
}

/** One exported name, and the file that declares it. */
export type PublicName = { readonly name: string; readonly file: string; readonly original: string }

const known = new Map<string, readonly PublicName[]>()

/** Returns the names that an entry point exports, with the declaration files they come from. */
export function exportsOf(outDir: string, entry: string): readonly PublicName[] {
  const names = known.get(entry) ?? readExports(outDir, entry)
  known.set(entry, names)
  return names
}

function readExports(outDir: string, entry: string): readonly PublicName[] {
  const text = readFileSync(entry, 'utf8')
  const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)]
  const named = lists.flatMap(([, names = '', from = '']) => {
    const file = fileOf(outDir, entry, from)
    return names.split(',').flatMap((one) => {
      const [, original = '', name = original] = /^\s*(?:type )?(\w+)(?: as (\w+))?\s*$/.exec(one) ?? []
      return original === '' || !file ? [] : [declarationOf(outDir, file, original, name)]
    })
  })
  const whole = [...text.matchAll(/export (?:type )?\* from '([^']+)'/g)].flatMap(([, from = '']) => {
    const file = fileOf(outDir, entry, from)
    return file ? exportsOf(outDir, file) : []
  })
  const own = [...text.matchAll(/export (?:declare )?(?:type|interface|const|function|class) (\w+)/g)]
  return [...named, ...whole, ...own.map(([, name = '']) => ({ name, file: entry, original: name }))]
}

/** Follows re-exports to the file that declares a name. */
function declarationOf(outDir: string, file: string, original: string, name: string): PublicName {
  const found = exportsOf(outDir, file).find((one) => one.name === original)
  return { name, file: found?.file ?? file, original: found?.original ?? original }
}

/** Returns the types that the declaration of a name refers to, as far as they are ours. */
export function typesIn(outDir: string, { file, original }: PublicName): readonly PublicName[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '')
  const whole = declarationText(text, original)
  // Of a function that only `ReturnType<typeof …>` names, the parameters are not public.
  const declaration = /^create/.test(original) ? whole.slice(whole.indexOf('Requests)') + 1) : whole
  const inline = [...declaration.matchAll(/import\("([^"]+)"\)\.(\w+)/g)].flatMap(([, from = '', name = '']) => {
    const found = /^[A-Z]/.test(name) ? fileOf(outDir, file, from) : null
    return found ? [declarationOf(outDir, found, name, name)] : []
  })
  const imported = [...text.matchAll(/import (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(
    ([, names = '', from = '']) => {
      const found = fileOf(outDir, file, from)
      return names.split(',').flatMap((one) => {
        const [, original = '', name = original] = /^\s*(?:type )?(\w+)(?: as (\w+))?\s*$/.exec(one) ?? []
        return found && mentions(declaration, name) ? [declarationOf(outDir, found, original, name)] : []
      })
    },
  )
  const local = [...text.matchAll(/^(?:export )?(?:declare )?(?:type|interface) (\w+)/gm)]
    .map(([, name = '']) => ({ name, file, original: name }))
    .filter(({ name }) => name !== original && mentions(declaration, name))
  const ofValue = [...declaration.matchAll(/typeof (\w+)/g)].flatMap(([, name = '']) =>
    name !== original && declarationText(text, name) !== '' ? typesIn(outDir, { name, file, original: name }) : [],
  )
  return [...inline, ...imported, ...local, ...ofValue]
}

/** Whether a type of this name is used, and not only a field or a value of this name. */
const mentions = (declaration: string, name: string): boolean =>
  /^[A-Z]/.test(name) && new RegExp(`(?<![\\w.'"]|typeof )${name}\\b(?!\\??:)(?!['"])`).test(declaration)

/** Returns the text of a declaration: up to the next one at the start of a line. */
function declarationText(text: string, name: string): string {
  const starts = new RegExp(`^(?:export )?(?:declare )?(?:type|interface|const|function|class) ${name}\\b`, 'm')
  const from = text.search(starts)
  if (from === -1) return ''
  const rest = text.slice(from)
  const next = rest.slice(1).search(/^(?:export|declare|type|interface|import) /m)
  return next === -1 ? rest : rest.slice(0, next + 1)
}

/** Returns the declaration file of a specifier; null for a library. */
function fileOf(outDir: string, from: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return resolve(dirname(from), specifier.replace(/\.(js|ts)$/, '.d.ts'))
  const [, folder = '', sub = '.'] = /^@holdfast\/(\w+)(\/.+)?$/.exec(specifier) ?? []
  if (folder === '') return null
  const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
  const source: string | undefined = manifest.exports[sub === '.' ? '.' : `.${sub}`]
  const file = source && join(outDir, folder, source.replace(/\.ts$/, '.d.ts'))
  return file && existsSync(file) ? file : null
}

/** Names a declaration for a message. */
export const nameOf = (outDir: string, { name, file }: PublicName): string => `${name} (${relative(outDir, file)})`

/** Returns where a compiler finds the declarations of each entry point of our packages. */
export function pathsTo(outDir: string): Readonly<Record<string, readonly string[]>> {
  const pairs = ['protocol', 'core', 'client', 'holdfast', 'testkit'].flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    return Object.entries<string>(exports).map(([sub, source]) => [
      join(name, sub),
      [join(outDir, folder, source.replace(/\.ts$/, '.d.ts'))],
    ])
  })
  return Object.fromEntries(pairs)
}
