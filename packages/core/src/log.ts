export { encodeRecords } from './runtime/encode-records.ts'
export { type Folded, fold, loadSession } from './runtime/load-session.ts'
export { readWindow } from './runtime/read-window.ts'
