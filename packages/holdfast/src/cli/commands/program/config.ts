import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { orThrow } from '@holdfast/protocol/result'
import { Config } from '../../../system/config/config.ts'
import {
  changeConfig,
  parseSettingPath,
  replaceConfig,
  type SettingPath,
  settingAt,
  withSetting,
} from '../../../system/config/config-file.ts'
import { configPath, layerConfig, readConfig } from '../../../system/config/read-config.ts'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type CommandResult, exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/output.ts'
import type { programSpecs } from './specs.ts'

type Args = ArgsOf<typeof programSpecs.config>
type Work = (args: Args, context: CliContext, path: string) => Promise<CommandResult>

/** Reads and changes the user's configuration file. A running server must be restarted to use a change. */
export const run: RunCommand<typeof programSpecs.config> = async (args, context) => {
  const [action = 'list'] = args.positionals
  return findAction('config', action, actions)(args, context, configPath(context.home.configDir))
}

/** Returns the settings in force, and where each comes from. */
async function readSettings({ environment }: CliContext, path: string) {
  const config = orThrow(await readConfig(path))
  const { from, ...configured } = orThrow(layerConfig({ file: { path, config }, environment, options: {} }))
  const sources: Readonly<Record<string, string | undefined>> = from
  return Object.keys(Config.shape)
    .filter((key) => key !== '$schema')
    .map((key) => {
      const value = settingAt(configured, [key])
      return { key, value, from: sources[key] ?? (settingAt(config, [key]) === undefined ? 'default' : path) }
    })
}

const list: Work = async ({ flags }, context, path) => {
  const settings = await readSettings(context, path)
  const { out } = context
  if (flags.json) await out.writeJson({ path, settings })
  else
    await out.write(
      textTable(
        ['KEY', 'VALUE', 'FROM'],
        settings.map(({ key, value, from }) => [key, valueText(value), from === path ? 'config.json' : from]),
        out,
      ),
    )
  return exitCodes.ok
}

const get: Work = async ({ positionals: [, key], flags }, context, path) => {
  const setting = settingPathOf(key, 'get')
  const settings = await readSettings(context, path)
  const found = settings.find((one) => one.key === setting[0])
  const value = settingAt({ [setting[0]]: found?.value }, setting)
  if (value === undefined)
    return failWith(fault('not_found', `${escapeLine(key ?? '')} is not set.`, { key: key ?? '' }))
  const isText = typeof value === 'string' && !flags.json
  await context.out.write(`${isText ? escapeHidden(value) : toJsonText(value)}\n`)
  return exitCodes.ok
}

const set: Work = async ({ positionals: [, key, text], flags }, { out, err, home }, path) => {
  const setting = settingPathOf(key, 'set')
  if (text === undefined) return rejectUsage(`config set needs a value: holdfast config set ${key} <value>.`)
  const value = parseValue(text)
  const result = await changeConfig(path, (config) => withSetting(config, setting, value), checkModels(home))
  if (!result.ok && isOneOfList(setting, value))
    return rejectUsage(`${setting[0]} is a list: holdfast config set ${setting[0]} '${toJsonText([value])}'`)
  const changed = orThrow(result)
  if (flags.json) await out.writeJson({ path, key, value: settingAt(changed, setting) })
  else await err.tell(`Set ${escapeLine(key ?? '')} in ${escapeLine(path)}. Restart a running server to use it.`)
  return exitCodes.ok
}

const unset: Work = async ({ positionals: [, key], flags }, { out, err }, path) => {
  const setting = settingPathOf(key, 'unset')
  const before = settingAt(orThrow(await readConfig(path)), setting)
  if (before === undefined)
    return failWith(
      fault('not_found', `${escapeLine(key ?? '')} is not set in ${escapeLine(path)}.`, { key: key ?? '' }),
    )
  orThrow(await changeConfig(path, (config) => withSetting(config, setting, undefined)))
  if (flags.json) await out.writeJson({ path, key })
  else await err.tell(`Removed ${escapeLine(key ?? '')} from ${escapeLine(path)}.`)
  return exitCodes.ok
}

/** Opens a draft of the file in the user's editor, and takes it over if it is valid. */
const edit: Work = async (_, { environment, input, out, err, pid, home }, path) => {
  const named = environment['VISUAL'] || environment['EDITOR']
  if (!named && !(input().isTTY && out.isTerminal))
    return rejectUsage('config edit opens vi, which needs a terminal. For scripts there is holdfast config set.')
  const editor = named || 'vi'
  ensurePrivateDirectory(dirname(path))
  const draft = `${path}.draft-${pid}.json`
  await copyFile(path, draft).catch(() => writeFile(draft, '{}\n', { mode: 0o600 })) // there is no file yet
  const before = await readFile(draft)
  const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', draft], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  const replaced = code === 0 ? await replaceConfig(path, draft, checkModels(home)) : null
  if (replaced?.ok) {
    await rm(draft)
    await err.tell(`Saved ${escapeLine(path)}. Restart a running server to use it.`)
    return exitCodes.ok
  }
  const why = replaced ? replaced.fault.message : `The editor ended with ${code}.`
  const isUntouched = before.equals(await readFile(draft).catch(() => before))
  if (isUntouched) await rm(draft, { force: true })
  const kept = isUntouched ? 'Nothing was changed.' : `Nothing was changed; your draft is ${escapeLine(draft)}.`
  return failWith(fault('bad_config', `${why} ${kept}`, { path: isUntouched ? path : draft }))
}

/** Refuses an unknown model: no command would start with it. */
const checkModels =
  (home: CliContext['home']) =>
  async (config: Config): Promise<Fault | null> => {
    const { findModelFault } = await import('../../../open/open-models.ts') // loads every provider, which --help does not need
    return findModelFault(config, home)
  }

const showPath: Work = async ({ flags }, { out }, path) => {
  if (flags.json) await out.writeJson({ path })
  else await out.write(`${escapeLine(path)}\n`)
  return exitCodes.ok
}

const actions = { list, get, set, unset, edit, path: showPath }

/** Parses the name of a setting. Rejects an unknown one, and names the nearest. */
function settingPathOf(key: string | undefined, action: string): SettingPath {
  const path = key === undefined ? null : parseSettingPath(key)
  if (path === null) return rejectUsage(`config ${action} needs a key, such as model. holdfast config lists them.`)
  const known = Object.keys(Config.shape)
  if (known.includes(path[0])) return path
  const hint = didYouMean(path[0], known) || ' holdfast config lists them.'
  return rejectUsage(`There is no setting '${escapeLine(path[0])}'.${hint}`)
}

/** Returns whether a value would fit if it were in a list. */
const isOneOfList = (setting: SettingPath, value: unknown): boolean =>
  setting.length === 1 && Config.safeParse({ [setting[0]]: [value] }).success

/** Reads a value: JSON if it is JSON, else text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const valueText = (value: unknown): string => {
  if (value === undefined) return '–'
  return escapeLine(typeof value === 'string' ? value : JSON.stringify(value))
}
