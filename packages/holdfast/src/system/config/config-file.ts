import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Fault, ok, type Result, refuse } from '@holdfast/protocol'
import { ensurePrivateDirectory } from '../files/private-directory.ts'
import { replaceAlone } from '../files/replace-alone.ts'
import { Config } from './config.ts'
import { configFault } from './config-fault.ts'
import { readConfig } from './read-config.ts'

/** The names that lead to a setting: `providers.mybox.baseUrl`. A name with a dot is in quotes: `models."a/b-1.5".takes`. */
export type SettingPath = readonly [string, ...string[]]

/** Parses the path of a setting. Returns null for text that is none. */
export function parseSettingPath(text: string): SettingPath | null {
  const names = [...text.matchAll(/(?:^|\.)(?:"([^"]+)"|([^".]+))/g)]
  const [first, ...rest] = names.map(([, quoted, plain]) => quoted ?? plain ?? '')
  const isWhole = names.map(([match]) => match).join('') === text
  return first === undefined || !isWhole ? null : [first, ...rest]
}

type Table = { readonly [name: string]: unknown }

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value at a path, or undefined. */
export function settingAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    config,
  )
}

/** Returns a configuration with another value at a path; undefined removes it, and tables that become empty. */
export function withSetting(config: Table, [name, next, ...rest]: SettingPath, value: unknown): Table {
  const { [name]: before, ...others } = config
  const inner = next === undefined ? value : withSetting(isTable(before) ? before : {}, [next, ...rest], value)
  const isGone = inner === undefined || (next !== undefined && isTable(inner) && Object.keys(inner).length === 0)
  return isGone ? others : { ...config, [name]: inner }
}

/** Returns why a configuration of the right form is still wrong; null if it is not. */
type ConfigCheck = (config: Config) => Promise<Fault | null>

const noCheck: ConfigCheck = async () => null

/** Changes the user's file, beside what is there. A file that cannot be read, and a change that is not valid, change nothing. */
export async function changeConfig(
  path: string,
  change: (config: Config) => unknown,
  check: ConfigCheck = noCheck,
): Promise<Result<Config>> {
  ensurePrivateDirectory(dirname(path))
  return replaceAlone(path, async (write) => {
    const config = await readConfig(path)
    if (!config.ok) return config
    const changed = Config.safeParse(change(config.value), { reportInput: true })
    if (!changed.success) return refuse(configFault(path, changed.error))
    const wrong = await check(changed.data)
    if (wrong !== null) return refuse(wrong)
    const written = await write(`${JSON.stringify(changed.data, null, 2)}\n`)
    return written.ok ? ok(changed.data) : written
  })
}

/** Replaces the whole file by a draft that a person wrote, with its own form, if that is a valid configuration. */
export async function replaceConfig(
  path: string,
  draft: string,
  check: ConfigCheck = noCheck,
): Promise<Result<Config>> {
  const config = await readConfig(draft)
  if (!config.ok) return config
  const wrong = await check(config.value)
  if (wrong !== null) return refuse(wrong)
  return replaceAlone(path, async (write) => {
    const written = await write(await readFile(draft, 'utf8'))
    return written.ok ? config : written
  })
}
