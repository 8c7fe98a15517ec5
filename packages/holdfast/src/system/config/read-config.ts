import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode, systemErrorWords } from '../system-error.ts'
import { Config } from './config.ts'
import { configFault } from './config-fault.ts'

const fileBytesMax = 1024 * 1024

export const configPath = (configDir: string): string => join(configDir, 'config.json')

/** What the user's file says; nothing where there is none. It is JSON and read as such: nothing in it is ever run. */
export async function readConfig(path: string): Promise<Result<Config>> {
  const text = await readText(path)
  if (!text.ok) return text
  if (text.value === null) return ok({})
  let said: unknown
  try {
    said = JSON.parse(text.value.replace(/^\ufeff/, ''))
  } catch (error) {
    const where = /line \d+ column \d+/.exec(String(error))?.[0]
    return refuse(
      fault('bad_config', `${path} is not JSON${where === undefined ? '' : `, from ${where} on`}.`, { path }),
    )
  }
  const config = Config.safeParse(said, { reportInput: true })
  return config.success ? ok(config.data) : refuse(configFault(path, config.error))
}

async function readText(path: string): Promise<Result<string | null>> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe must not hold the start up
    const found = await file.stat()
    if (!found.isFile()) return refuse(fault('bad_config', `${path} is no file.`, { path }))
    if (found.size > fileBytesMax)
      return refuse(fault('bad_config', `${path} is far too long for a configuration.`, { path }))
    return ok(await file.readFile('utf8'))
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(null)
    return refuse(fault('bad_config', `${path} cannot be read: ${systemErrorWords(error)}.`, { path }))
  }
}
