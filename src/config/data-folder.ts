/** Default of DEPOSIT_DATA_DIR. */
export const DEFAULT_DATA_DIR = './data';
