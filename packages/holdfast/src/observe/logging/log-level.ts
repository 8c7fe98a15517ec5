import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Environment } from '../../system/environment.ts'
import { type LogLevel, logLevels } from './logger.ts'

type LogSetting = LogLevel | 'off'

const settings: readonly LogSetting[] = ['off', ...logLevels]

/** What `HOLDFAST_LOG` says; set to nothing is not set. */
export function logSettingOf(environment: Environment, byDefault: LogSetting): Result<LogSetting> {
  const given = environment['HOLDFAST_LOG'] || byDefault
  const found = settings.find((setting) => setting === given)
  if (found !== undefined) return ok(found)
  const hint = didYouMean(given, settings)
  const message = `HOLDFAST_LOG is ${settings.join(', ')}, not '${escapeLine(given)}'.${hint}`
  return refuse(fault('bad_request', message, { name: 'HOLDFAST_LOG' }))
}
