import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The scenarios for clients of `@modelcontextprotocol/conformance`. A test compares them with what the package lists. */
export const scenarios = [
  ...['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry', 'auth/metadata-default'],
  ...['auth/metadata-var1', 'auth/metadata-var2', 'auth/metadata-var3', 'auth/basic-cimd'],
  ...['auth/scope-from-www-authenticate', 'auth/scope-from-scopes-supported', 'auth/scope-omitted-when-undefined'],
  ...['auth/scope-step-up', 'auth/scope-retry-limit', 'auth/token-endpoint-auth-basic'],
  ...['auth/token-endpoint-auth-post', 'auth/token-endpoint-auth-none', 'auth/pre-registration'],
  ...['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
  ...['auth/resource-mismatch', 'auth/offline-access-scope', 'auth/offline-access-not-supported'],
] as const

/** Scenarios in which a program signs in without a person. Holdfast has no such sign-in. */
export const notApplicable = [
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/cross-app-access-complete-flow',
] as const

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
const client = fileURLToPath(new URL('client.ts', import.meta.url))

/** Runs the program of the conformance package. Resolves with its exit code and what it printed. */
export async function runConformance(...args: readonly string[]): Promise<{ code: number | null; printed: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)))
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  return { code: await promise, printed }
}

/** Runs one scenario against the client of this folder. */
export const runScenario = (scenario: string) =>
  runConformance('client', '--command', `${process.execPath} ${client}`, '--scenario', scenario, '--timeout', '120000')
