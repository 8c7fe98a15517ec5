export { resolveWorkdir } from './platform/workdir.ts'
